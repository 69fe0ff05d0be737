/** A folder of programs for the PATH: a fake `wrangler` with an account of its own, and an `npm`. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What Cloudflare has. */
export interface FakeAccount {
  readonly namespaces: readonly { readonly id: string; readonly title: string }[];
  readonly databases: readonly { readonly uuid: string; readonly name: string }[];
  /** Names of the Worker's secrets; null while there is none. */
  readonly worker: readonly string[] | null;
  /** Where the Worker is served. */
  readonly url: string;
  /** The beginning of a command that fails. */
  readonly fails: string;
}

/** A command that the fake was given, and the secrets in the file that it named. */
export interface FakeCall {
  readonly command: string;
  readonly secrets: { readonly [name: string]: string } | null;
}

export class FakeWrangler {
  /** For the PATH. */
  readonly folder = mkdtempSync(join(tmpdir(), "locations-fake-wrangler-"));

  constructor(url: string) {
    const program = join(import.meta.dirname, "fake-wrangler-process.ts");
    this.install("wrangler", `exec "${process.execPath}" "${program}" "${this.folder}" "$@"`);
    this.install("npm", "exit 0");
    this.#write({ namespaces: [], databases: [], worker: null, url, fails: "" });
  }

  get account(): FakeAccount {
    return JSON.parse(readFileSync(this.#accountFile, "utf8"));
  }

  /** The commands since the last look. */
  takeCalls(): FakeCall[] {
    const file = join(this.folder, "calls.ndjson");
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, "utf8").trim().split("\n");
    rmSync(file);
    return lines.map((line): FakeCall => JSON.parse(line));
  }

  /** Changes the account behind the back of whoever deploys. */
  change(change: Partial<FakeAccount>): void {
    this.#write({ ...this.account, ...change });
  }

  /** Replaces a program by a line of shell. */
  install(name: string, line: string): void {
    writeFileSync(join(this.folder, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  get #accountFile(): string {
    return join(this.folder, "account.json");
  }

  #write(account: FakeAccount): void {
    writeFileSync(this.#accountFile, JSON.stringify(account));
  }
}
