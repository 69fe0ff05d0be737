/** What a deployment asks of wrangler. Each step finds what an earlier run has done, and keeps it. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { CommandError } from "./command.ts";
import { type Address, completeConfig, type Provisioned, type Target } from "./deploy-target.ts";
import { parseJson } from "../src/parse-json.ts";
import { askWrangler, run } from "./wrangler.ts";

const KEPT = "Correct that and run the same command again: what is there is kept.";
const NOTHING_DEPLOYED = `Nothing was deployed. ${KEPT}`;

/** The commands that change something, in their order. */
export function commandsOf(target: Target, configFile: string) {
  const { environment, namespaceTitle, databaseName, databaseBinding } = target;
  const where = ["--env", environment, "--config", configFile];
  return {
    createNamespace: ["wrangler", "kv", "namespace", "create", namespaceTitle],
    createDatabase: ["wrangler", "d1", "create", databaseName],
    migrate: ["wrangler", "d1", "migrations", "apply", databaseBinding, "--remote", ...where],
    /** Also makes the R2 buckets that are missing. */
    deploy: ["wrangler", "deploy", ...where],
  } as const;
}

/** Calls with the completed wrangler.toml, which lies beside it since its paths are relative. */
export async function withConfig<T>(
  target: Target,
  { address, ids }: { readonly address: Address; readonly ids?: Provisioned },
  use: (configFile: string) => Promise<T>,
): Promise<T> {
  const configFile = `.wrangler-deploy-${target.environment}-${process.pid}.json`;
  writeFileSync(configFile, JSON.stringify(completeConfig(target, address, ids), null, 2));
  try {
    return await use(configFile);
  } finally {
    rmSync(configFile);
  }
}

const secretList = z.array(z.object({ name: z.string() }));

/** Names of the secrets that the deployed Worker has; undefined if there is no such Worker. */
export async function findSecrets(
  { workerName }: Target,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  const args = ["secret", "list", "--name", workerName, "--format", "json"];
  const { ok, stdout, output } = await askWrangler(args, signal);
  // The words of the wrangler that package.json pins.
  if (!ok && output.includes(`Worker "${workerName}" not found`)) return undefined;
  const secrets = secretList.safeParse(ok ? parseJson(stdout) : undefined).data;
  if (secrets === undefined) throw noList(args, output);
  return new Set(secrets.map(({ name }) => name));
}

function noList(args: readonly string[], output: string): CommandError {
  return new CommandError(
    `"wrangler ${args.join(" ")}" gave no list. Nothing was deployed. It says:
${output}
Log in with "npx wrangler login", or set CLOUDFLARE_API_TOKEN to a token that may edit Workers Scripts, KV, R2 and D1. Where there are several accounts, set CLOUDFLARE_ACCOUNT_ID.`,
  );
}

/**
 * Finds the KV namespace and the D1 database by their names, and makes those that are missing.
 * Wrangler could make them while it deploys, but then the migrations would come too late, and a
 * deployment that fails halfway leaves a namespace behind whose name stops the next one.
 */
export async function provision(target: Target, signal: AbortSignal): Promise<Provisioned> {
  const { createNamespace, createDatabase } = commandsOf(target, "");
  const namespaces = { list: ["kv", "namespace", "list"], make: createNamespace };
  const databases = { list: ["d1", "list", "--json"], make: createDatabase };
  return {
    namespaceId: await findOrMake(target.namespaceTitle, namespaces, signal),
    databaseId: await findOrMake(target.databaseName, databases, signal),
  };
}

const resourceList = z.array(
  z.union([
    z.object({ id: z.string(), title: z.string() }),
    z.object({ uuid: z.string(), name: z.string() }).transform(({ uuid, name }) => {
      return { id: uuid, title: name };
    }),
  ]),
);

interface Commands {
  readonly list: readonly string[];
  readonly make: readonly [string, ...string[]];
}

async function findOrMake(
  name: string,
  { list, make }: Commands,
  signal: AbortSignal,
): Promise<string> {
  const find = async () => {
    const { ok, stdout, output } = await askWrangler(list, signal);
    const resources = resourceList.safeParse(ok ? parseJson(stdout) : undefined).data;
    if (resources === undefined) throw noList(list, output);
    return resources.find(({ title }) => title === name)?.id;
  };
  const present = await find();
  if (present !== undefined) return present;
  await run(make, { signal, onFailure: NOTHING_DEPLOYED });
  const made = await find();
  if (made !== undefined) return made;
  throw new CommandError(`${name} was made but is not listed yet. ${NOTHING_DEPLOYED}`);
}

export async function migrate(
  target: Target,
  configFile: string,
  signal: AbortSignal,
): Promise<void> {
  const onFailure = `The Worker was not deployed, and what is served is as before. ${KEPT}`;
  await run(commandsOf(target, configFile).migrate, { signal, onFailure });
}

const deployReport = z.object({ type: z.literal("deploy"), targets: z.array(z.string()) });

interface Upload {
  readonly target: Target;
  readonly configFile: string;
  /** Value of the secret ADMIN_TOKENS to set; undefined leaves those that there are. */
  readonly adminTokens: string | undefined;
}

/** Deploys the Worker; the URL at workers.dev, if it is served there. */
export async function deployWorker(
  { target, configFile, adminTokens }: Upload,
  signal: AbortSignal,
): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "locations-deploy-"));
  const [secretsFile, reportFile] = [join(folder, "secrets.json"), join(folder, "report.ndjson")];
  const { deploy } = commandsOf(target, configFile);
  const secrets = adminTokens === undefined ? [] : ["--secrets-file", secretsFile];
  try {
    const content = JSON.stringify({ ADMIN_TOKENS: adminTokens });
    writeFileSync(secretsFile, content, { mode: 0o600 });
    await run([...deploy, ...secrets], {
      signal,
      onFailure: `The Workers Paid plan is needed, R2 enabled in the dashboard, and for workers.dev a subdomain. ${KEPT}`,
      env: { WRANGLER_OUTPUT_FILE_PATH: reportFile },
      mayAsk: true,
    });
    const lines = existsSync(reportFile) ? readFileSync(reportFile, "utf8").split("\n") : [];
    const targets = lines.flatMap(
      (line) => deployReport.safeParse(parseJson(line)).data?.targets ?? [],
    );
    return targets.find((text) => /^https?:/.test(text));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
