import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CommandError } from "./command.ts";

/** The folder of a local service's stores. */
export interface StateFolder {
  readonly path: string;
  /** The Worker's log. */
  readonly logFile: string;
  /** What wrangler stores of D1. */
  readonly databaseFolder: string;
  /** Advice for unusable stored data. `lesser` is the advice to try before the deletion of all. */
  wayOut(lesser?: string): string;
  /** Frees the folder. */
  release(): void;
}

export const DEFAULT_STATE_FOLDER = ".wrangler/state";
/** Subfolder that wrangler keeps all storage in. */
const STORAGE = "v3";
/** @see https://www.sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

/** Locks that this process has; the garbage collector would close, and so free, a forgotten one. */
const locks = new Set<DatabaseSync>();

/**
 * Takes a folder for this process, since two Workers that write to the same storage damage it. The lock
 * is SQLite's: the system frees it when the process ends in any way.
 *
 * @throws CommandError if another process has the folder, or it cannot be written to.
 */
export function claimStateFolder(path: string, options: { readonly fresh: boolean }): StateFolder {
  const lock = lockFolder(path);
  const logFile = join(path, "worker.log");
  if (options.fresh) rmSync(join(path, STORAGE), { recursive: true, force: true });
  const where = path === DEFAULT_STATE_FOLDER ? "" : ` --state ${path}`;
  return {
    path,
    logFile,
    databaseFolder: join(path, STORAGE, "d1"),
    wayOut: (lesser = "") => `The log says more: ${logFile}
To leave what is stored there and use another folder: npm start -- --state FOLDER
${lesser}To delete it, also its backups, and start afresh: npm start -- --fresh${where}`,
    release: () => locks.delete(lock) && lock.close(),
  };
}

function lockFolder(path: string): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    mkdirSync(path, { recursive: true });
    lock = new DatabaseSync(join(path, "lock.sqlite"));
    lock.exec("BEGIN EXCLUSIVE");
    locks.add(lock);
    return lock;
  } catch (error) {
    lock?.close();
    const another = "choose another folder: npm start -- --state FOLDER";
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY)
      throw new CommandError(
        `${path} is in use by another npm start. Stop that one, or ${another}`,
      );
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${path} cannot be written to (${why}). Correct that, or ${another}`);
  }
}
