/**
 * A fake of wrangler 4.156 as a program: `node fake-wrangler-process.ts FOLDER COMMAND…`. It keeps an
 * account in a file of the folder, and talks to nobody.
 */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FakeAccount } from "./fake-wrangler.ts";

interface Config {
  readonly name: string;
  readonly kv_namespaces: readonly { readonly id?: string }[];
  readonly d1_databases: readonly { readonly database_id?: string }[];
}

const [folder = "", ...args] = process.argv.slice(2);
const accountFile = join(folder, "account.json");
const account: FakeAccount = JSON.parse(readFileSync(accountFile, "utf8"));
const command = args.join(" ");
const secrets = readJson(option("--secrets-file"));
appendFileSync(join(folder, "calls.ndjson"), `${JSON.stringify({ command, secrets })}\n`);
if (account.fails !== "" && command.startsWith(account.fails)) fail("It is so ordered.");
else play();

function play(): void {
  const { namespaces, databases, worker } = account;
  if (command === "kv namespace list") return print(namespaces);
  if (command === "d1 list --json") return print(databases);
  if (command.startsWith("kv namespace create")) {
    const title = args[3] ?? "";
    return change({ namespaces: [...namespaces, { id: `kv-of-${title}`, title }] });
  }
  if (command.startsWith("d1 create")) {
    const name = args[2] ?? "";
    return change({ databases: [...databases, { uuid: `d1-of-${name}`, name }] });
  }
  if (command.startsWith("secret list")) {
    if (worker === null) return fail(`Worker "${option("--name")}" not found.`);
    return print(worker.map((name) => ({ name, type: "secret_text" })));
  }
  if (command.startsWith("d1 migrations apply")) return checkIds();
  if (command.startsWith("deploy")) return deploy();
  fail(`Unknown arguments: ${command}`);
}

function deploy(): void {
  checkIds();
  change({ worker: [...new Set([...(account.worker ?? []), ...Object.keys(secrets ?? {})])] });
  const report = { type: "deploy", targets: ["schedule: 17 4 * * *", account.url] };
  writeFileSync(process.env["WRANGLER_OUTPUT_FILE_PATH"] ?? "", `${JSON.stringify(report)}\n`);
}

/** Refuses a configuration that names other stores than those of the account. */
function checkIds(): void {
  const { env } = readJson(option("--config")) as { readonly env: { [name: string]: Config } }; // our own file
  const config = env[option("--env") ?? ""];
  const ids = [account.namespaces[0]?.id, account.databases[0]?.uuid];
  const named = [config?.kv_namespaces[0]?.id, config?.d1_databases[0]?.database_id];
  if (JSON.stringify(named) !== JSON.stringify(ids)) fail(`no such stores: ${named.join(" ")}`);
}

function option(name: string): string | undefined {
  return args.includes(name) ? args[args.indexOf(name) + 1] : undefined;
}

function readJson(file: string | undefined): object | null {
  return file === undefined ? null : JSON.parse(readFileSync(file, "utf8"));
}

function change(next: Partial<FakeAccount>): void {
  writeFileSync(accountFile, JSON.stringify({ ...account, ...next }));
}

function print(value: unknown): void {
  process.stdout.write(JSON.stringify(value));
}

function fail(message: string): void {
  process.stderr.write(`✘ [ERROR] ${message}\n`);
  process.exitCode = 1;
}
