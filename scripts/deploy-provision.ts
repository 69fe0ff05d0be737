import { z } from "zod";
import {
  createDatabase,
  createNamespace,
  LIST_DATABASES,
  LIST_NAMESPACES,
  type Command,
} from "./deploy-commands.ts";
import { DeployError } from "./deploy-error.ts";
import type { Provisioned, Target } from "./deploy-target.ts";
import { parseJson } from "../src/parse-json.ts";
import type { Wrangler } from "./wrangler.ts";

const namespaces = z.array(z.object({ id: z.string(), title: z.string() }));
const databases = z.array(z.object({ uuid: z.string(), name: z.string() }));

export interface ProvisionOptions {
  readonly target: Target;
  readonly wrangler: Wrangler;
  readonly say: (line: string) => void;
}

/**
 * Finds the KV namespace and the D1 database of an environment by their names, and makes those that
 * are missing. Wrangler could make them while it deploys, but then a deployment that fails halfway
 * leaves a namespace behind whose name stops the next one, and the migrations would come too late.
 *
 * @throws DeployError if a list cannot be read or something cannot be made.
 */
export async function provision({ target, wrangler, say }: ProvisionOptions): Promise<Provisioned> {
  const findNamespace = async () =>
    (await readList(wrangler, LIST_NAMESPACES, namespaces)).find(
      ({ title }) => title === target.namespaceTitle,
    )?.id;
  const findDatabase = async () =>
    (await readList(wrangler, LIST_DATABASES, databases)).find(
      ({ name }) => name === target.databaseName,
    )?.uuid;
  const ensure = (what: string, find: typeof findDatabase, create: Command) =>
    findOrCreate({ what, find, create, wrangler, say });
  return {
    namespaceId: await ensure(
      `KV namespace ${target.namespaceTitle}`,
      findNamespace,
      createNamespace(target),
    ),
    databaseId: await ensure(
      `D1 database ${target.databaseName}`,
      findDatabase,
      createDatabase(target),
    ),
  };
}

interface Resource {
  readonly what: string;
  readonly find: () => Promise<string | undefined>;
  readonly create: Command;
  readonly wrangler: Wrangler;
  readonly say: (line: string) => void;
}

async function findOrCreate({ what, find, create, wrangler, say }: Resource): Promise<string> {
  const present = await find();
  if (present !== undefined) {
    say(`  ${what}: there`);
    return present;
  }
  const { ok, lastLines } = await wrangler(create);
  if (!ok)
    throw new DeployError(
      `The ${what} could not be made. Nothing was deployed. Wrangler says:\n${lastLines}\nCorrect that and run the same command again: what is there already is kept.`,
    );
  const made = await find();
  if (made === undefined)
    throw new DeployError(
      `The ${what} was made but is not listed yet. Nothing was deployed. Run the same command again in a minute.`,
    );
  say(`  ${what}: made`);
  return made;
}

async function readList<T>(wrangler: Wrangler, command: Command, schema: z.ZodType<T>): Promise<T> {
  const { ok, stdout, lastLines } = await wrangler(command);
  const parsed = schema.safeParse(ok ? parseJson(stdout) : undefined);
  if (parsed.success) return parsed.data;
  throw new DeployError(
    `"wrangler ${command.join(" ")}" gave no list. Nothing was deployed. Does the account or token have the rights for Workers Scripts, KV, R2 and D1? Wrangler says:\n${lastLines}`,
  );
}
