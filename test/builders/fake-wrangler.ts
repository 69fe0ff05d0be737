/**
 * A fake of wrangler: it takes the commands of a deployment, keeps an account in a file, and says what
 * wrangler 4.156 says. It talks to nobody. It is played by a process, as wrangler is, or faster by
 * the caller's own.
 */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wranglerEnv, type Wrangler, wranglerRunner } from "../../scripts/wrangler.ts";
import { type FakeAccount, play } from "./fake-wrangler-process.ts";

/** A command that the fake was given. */
export interface FakeCall {
  readonly args: readonly string[];
  /** The values of all its environment variables. */
  readonly env: string;
  /** The files that `--config` and `--secrets-file` named, while they were there. */
  readonly config: unknown;
  readonly secrets: unknown;
  readonly secretsFileMode: number | null;
}

export interface FakeWrangler {
  /** Runs a process for each command. */
  readonly processes: (signal: AbortSignal) => Wrangler;
  /** Plays each command in this process. */
  readonly inProcess: Wrangler;
  readonly account: () => FakeAccount;
  readonly calls: () => FakeCall[];
  /** Changes the account behind the back of whoever deploys. */
  readonly change: (change: Partial<FakeAccount>) => void;
  readonly remove: () => void;
}

const NEW_ACCOUNT: FakeAccount = {
  loggedIn: true,
  accounts: [{ id: "acc-1", name: "Ada's account" }],
  namespaces: [],
  databases: [],
  buckets: [],
  workers: {},
  subdomain: "ada",
  triggerFailure: "",
  applied: {},
  failures: {},
  hangs: "",
};

export function fakeWrangler(account: Partial<FakeAccount> = {}): FakeWrangler {
  const folder = mkdtempSync(join(tmpdir(), "locations-fake-wrangler-"));
  const accountFile = join(folder, "account.json");
  const callsFile = join(folder, "calls.ndjson");
  const script = join(folder, "wrangler.mjs");
  const playing = join(import.meta.dirname, "fake-wrangler-process.ts");
  const read = (): FakeAccount => JSON.parse(readFileSync(accountFile, "utf8"));
  const write = (next: FakeAccount) => writeFileSync(accountFile, JSON.stringify(next));
  write({ ...NEW_ACCOUNT, ...account });
  appendFileSync(callsFile, "");
  writeFileSync(
    script,
    `import { playProcess } from ${JSON.stringify(playing)};\nplayProcess(${JSON.stringify(folder)});\n`,
  );
  return {
    processes: (signal) => wranglerRunner(script, signal),
    inProcess: async (args) => {
      const { ok, stdout, stderr, report } = play(folder, args, wranglerEnv(""));
      const reports = report === undefined ? [] : [report];
      return { ok, stdout, lastLines: stdout + stderr, reports };
    },
    account: read,
    calls: () =>
      readFileSync(callsFile, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line): FakeCall => JSON.parse(line)),
    change: (change) => write({ ...read(), ...change }),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
