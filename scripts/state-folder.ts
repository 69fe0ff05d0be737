import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parseJson } from "../src/parse-json.ts";
import { identify, isGroupRunning, isRunning } from "./process-identity.ts";
import { StartError } from "./start-error.ts";

/** Where one local service keeps what it stores. */
export interface StateFolder {
  readonly path: string;
  /** Everything that the Worker writes to its log. */
  readonly logFile: string;
  /** Secrets of the Worker, readable by their owner only. */
  readonly secretsFile: string;
  /** Names the process group that uses the folder, which may outlive this process. */
  setGroup(pid: number): void;
  /** Lets others have the folder. */
  release(): void;
}

/** Subfolder that wrangler keeps all storage in. */
const STORAGE = "v3";

const identity = z.object({ pid: z.int().positive(), startedAt: z.string().nullable() });
/** Content of the file that names who has the folder. */
const owners = z.object({ starter: identity, group: identity.optional() });

/**
 * Takes a folder for this process, since storage that two Workers write to is soon damaged.
 *
 * @throws StartError that names the process which has it, or the group that a killed one has left.
 */
export function claimStateFolder(path: string, options: { readonly fresh: boolean }): StateFolder {
  const ownerFile = join(path, "owner.json");
  mkdirSync(path, { recursive: true });
  assertUnused(path, ownerFile);
  const write = (content: z.infer<typeof owners>) =>
    writeFileSync(ownerFile, `${JSON.stringify(content)}\n`);
  const starter = identify(process.pid);
  write({ starter });
  if (options.fresh) rmSync(join(path, STORAGE), { recursive: true, force: true });
  return {
    path,
    logFile: join(path, "worker.log"),
    secretsFile: join(path, "secrets.env"),
    setGroup: (pid) => write({ starter, group: identify(pid) }),
    release: () => rmSync(ownerFile, { force: true }),
  };
}

function assertUnused(path: string, ownerFile: string): void {
  const { starter, group } = readOwners(ownerFile) ?? {};
  // Ids repeat in containers, where this process may have that of one before it.
  if (starter !== undefined && starter.pid !== process.pid && isRunning(starter))
    throw new StartError(
      `${path} is in use by process ${starter.pid}. Stop that one, or choose another: npm start -- --state FOLDER`,
    );
  if (group !== undefined && isGroupRunning(group))
    throw new StartError(
      `${path} is in use by a Worker that was left running, process group ${group.pid}. Stop it (kill -- -${group.pid}), or choose another: npm start -- --state FOLDER`,
    );
}

function readOwners(file: string): z.infer<typeof owners> | undefined {
  try {
    return owners.safeParse(parseJson(readFileSync(file, "utf8"))).data;
  } catch {
    return undefined;
  }
}
