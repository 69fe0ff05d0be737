import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "./start-error.ts";

/** Where one local service keeps what it stores. */
export interface StateFolder {
  readonly path: string;
  /** Everything that the Worker writes to its log. */
  readonly logFile: string;
  /** Secrets of the Worker, readable by their owner only. */
  readonly secretsFile: string;
  /** Lets others have the folder. */
  release(): void;
}

/** Subfolder that wrangler keeps all storage in. */
const STORAGE = "v3";

/**
 * Takes a folder for this process, since storage that two Workers write to is soon damaged.
 *
 * @throws StartError that names the process which has it.
 */
export function claimStateFolder(path: string, options: { readonly fresh: boolean }): StateFolder {
  const ownerFile = join(path, "owner.pid");
  mkdirSync(path, { recursive: true });
  const owner = readPid(ownerFile);
  if (owner !== undefined && isRunning(owner))
    throw new StartError(
      `${path} is in use by process ${owner}. Stop that one, or choose another: npm start -- --state FOLDER`,
    );
  writeFileSync(ownerFile, `${process.pid}\n`);
  if (options.fresh) rmSync(join(path, STORAGE), { recursive: true, force: true });
  return {
    path,
    logFile: join(path, "worker.log"),
    secretsFile: join(path, "secrets.env"),
    release: () => rmSync(ownerFile, { force: true }),
  };
}

function readPid(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, "utf8"));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
