/** What the fake does with a command, in a process of its own or in the caller's: see fake-wrangler.ts. */
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What the fake's Cloudflare account has. */
export interface FakeAccount {
  readonly loggedIn: boolean;
  readonly accounts: readonly { readonly id: string; readonly name: string }[];
  readonly namespaces: readonly { readonly id: string; readonly title: string }[];
  readonly databases: readonly { readonly uuid: string; readonly name: string }[];
  readonly buckets: readonly string[];
  /** Names of the secrets of each Worker. */
  readonly workers: { readonly [name: string]: readonly string[] };
  /** Name at workers.dev; null where none is registered. */
  readonly subdomain: string | null;
  /** Error of what comes after an upload, such as routes; "" for none. */
  readonly triggerFailure: string;
  /** How often migrations were applied to each database. */
  readonly applied: { readonly [uuid: string]: number };
  /** Errors by the beginning of a command, such as "d1 create". */
  readonly failures: { readonly [command: string]: string };
  /** Beginning of a command that never ends by itself; "" for none. */
  readonly hangs: string;
}

/** How a command ended. */
export interface Ending {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** What is written into the output file. */
  readonly report?: object;
  readonly next?: Partial<FakeAccount>;
}

interface NamedConfig {
  readonly name: string;
  readonly workers_dev?: boolean;
  readonly routes?: readonly { readonly pattern: string }[];
  readonly kv_namespaces: readonly { readonly id?: string }[];
  readonly r2_buckets: readonly { readonly bucket_name: string }[];
  readonly d1_databases: readonly { readonly binding: string; readonly database_id?: string }[];
  readonly secrets: { readonly required: readonly string[] };
}

/** Plays the command of this process. */
export function playProcess(folder: string): void {
  const { ok, stdout, stderr, report } = play(folder, process.argv.slice(2), process.env);
  const reportFile = process.env["WRANGLER_OUTPUT_FILE_PATH"];
  if (report !== undefined && reportFile !== undefined)
    appendFileSync(reportFile, `${JSON.stringify(report)}\n`);
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = ok ? 0 : 1;
}

/** Plays one command against the account in a folder. */
export function play(folder: string, args: readonly string[], env: NodeJS.ProcessEnv): Ending {
  const accountFile = join(folder, "account.json");
  const account: FakeAccount = JSON.parse(readFileSync(accountFile, "utf8"));
  record(join(folder, "calls.ndjson"), args, env);
  if (account.hangs !== "" && args.join(" ").startsWith(account.hangs)) hang();
  const ending = act(args, account);
  if (ending.next !== undefined)
    writeFileSync(accountFile, JSON.stringify({ ...account, ...ending.next }));
  return ending;
}

function hang(): never {
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function record(file: string, args: readonly string[], env: NodeJS.ProcessEnv): void {
  const secretsFile = option(args, "--secrets-file");
  const call = {
    args,
    env: Object.values(env).join("\n"),
    config: readJson(option(args, "--config")),
    secrets: readJson(secretsFile),
    secretsFileMode: secretsFile === undefined ? null : statSync(secretsFile).mode & 0o777,
  };
  appendFileSync(file, `${JSON.stringify(call)}\n`);
}

function act(args: readonly string[], account: FakeAccount): Ending {
  const line = args.join(" ");
  const failure = Object.entries(account.failures).find(([command]) => line.startsWith(command));
  if (failure !== undefined) return fail(failure[1]);
  if (line === "whoami --json") return whoAmI(account);
  if (line.startsWith("deploy --dry-run")) return succeed("--dry-run: exiting now.");
  if (!account.loggedIn)
    return fail(
      "In a non-interactive environment, it's necessary to set a CLOUDFLARE_API_TOKEN environment variable for wrangler to work.",
    );
  if (line === "kv namespace list") return succeed(JSON.stringify(account.namespaces));
  if (line.startsWith("kv namespace create ")) return createNamespace(args[3] ?? "", account);
  if (line === "d1 list --json") return succeed(JSON.stringify(account.databases));
  if (line.startsWith("d1 create ")) return createDatabase(args[2] ?? "", account);
  if (line.startsWith("secret list --name ")) return listSecrets(args[3] ?? "", account);
  if (line.startsWith("d1 migrations apply ")) return migrate(args, account);
  if (line.startsWith("deploy ")) return deploy(args, account);
  return fail(`Unknown command: ${line}`);
}

function whoAmI({ loggedIn, accounts }: FakeAccount): Ending {
  if (loggedIn)
    return succeed(
      JSON.stringify({ loggedIn, authType: "OAuth Token", email: "ada@a.example", accounts }),
    );
  return { ok: false, stdout: `${JSON.stringify({ loggedIn })}\n`, stderr: "" };
}

function createNamespace(title: string, { namespaces }: FakeAccount): Ending {
  if (namespaces.some((one) => one.title === title))
    return fail(`A KV namespace with the title "${title}" already exists.`);
  const next = { namespaces: [...namespaces, { id: `kv-of-${title}`, title }] };
  return succeed(`🌀 Creating namespace with title "${title}"\n✨ Success!`, next);
}

function createDatabase(name: string, { databases }: FakeAccount): Ending {
  if (databases.some((one) => one.name === name))
    return fail("A database with that name already exists");
  const next = { databases: [...databases, { uuid: `d1-of-${name}`, name }] };
  return succeed(`✅ Successfully created DB '${name}' in region WEUR`, next);
}

function listSecrets(worker: string, { workers }: FakeAccount): Ending {
  const names = workers[worker];
  if (names === undefined)
    return fail(
      `Worker "${worker}" not found.\n\nIf this is a new Worker, run \`wrangler deploy\` first to create it.`,
    );
  return succeed(JSON.stringify(names.map((name) => ({ name, type: "secret_text" }))));
}

function migrate(args: readonly string[], { databases, applied }: FakeAccount): Ending {
  const uuid = namedConfig(args).d1_databases.find(
    ({ binding }) => binding === args[3],
  )?.database_id;
  const database = databases.find((one) => one.uuid === uuid);
  if (uuid === undefined || database === undefined || !args.includes("--remote"))
    return fail(`Couldn't find a D1 DB with the name or binding '${args[3]}'`);
  const times = applied[uuid] ?? 0;
  const text = times === 0 ? "🌀 Executing on remote database" : "✅ No migrations to apply!";
  return succeed(text, { applied: { ...applied, [uuid]: times + 1 } });
}

function deploy(args: readonly string[], account: FakeAccount): Ending {
  const config = namedConfig(args);
  const present = account.workers[config.name];
  const given = Object.keys(readJson(option(args, "--secrets-file")) ?? {});
  const missing = config.secrets.required.filter(
    (name) => !given.includes(name) && !present?.includes(name),
  );
  if (missing.length > 0)
    return fail(`The following required secrets have not been set: ${missing.join(", ")}`);
  if (!config.kv_namespaces.every(({ id }) => account.namespaces.some((one) => one.id === id)))
    return fail("KV namespace not found [code: 10041]");
  const lacksSubdomain = config.workers_dev === true && account.subdomain === null;
  if (lacksSubdomain && present === undefined) return fail(NO_SUBDOMAIN);
  const url = `https://${config.name}.${account.subdomain}.workers.dev`;
  const targets = [
    ...(config.workers_dev === true ? [url] : []),
    ...(config.routes ?? []).map(({ pattern }) => `${pattern} (custom domain)`),
    "schedule: 17 4 * * *",
  ];
  const next = {
    workers: { ...account.workers, [config.name]: [...new Set([...(present ?? []), ...given])] },
    buckets: [...new Set([...account.buckets, ...config.r2_buckets.map((one) => one.bucket_name)])],
  };
  const uploaded = succeed(`Uploaded ${config.name} (4.20 sec)`, next);
  const failure = lacksSubdomain ? NO_SUBDOMAIN : account.triggerFailure;
  if (failure !== "") return { ...fail(failure), stdout: uploaded.stdout, next };
  const report = { type: "deploy", version: 1, worker_name: config.name, targets };
  return { ...uploaded, report };
}

const NO_SUBDOMAIN =
  "You can either deploy your worker to one or more routes by specifying them in your wrangler.json file, or register a workers.dev subdomain here:\nhttps://dash.cloudflare.com/acc-1/workers/onboarding";

function namedConfig(args: readonly string[]): NamedConfig {
  const config = readJson(option(args, "--config")) as { env: Record<string, NamedConfig> }; // a file of ours
  const named = config.env[option(args, "--env") ?? ""];
  if (named === undefined) throw new Error("no such environment in the configuration");
  return named;
}

function option(args: readonly string[], name: string): string | undefined {
  const index = args.indexOf(name);
  return index === -1 ? undefined : args[index + 1];
}

function readJson(file: string | undefined): unknown {
  return file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
}

function succeed(text: string, next?: Partial<FakeAccount>): Ending {
  const ending = { ok: true, stdout: `${text}\n`, stderr: "" };
  return next === undefined ? ending : { ...ending, next };
}

function fail(message: string): Ending {
  return { ok: false, stdout: "", stderr: `✘ [ERROR] ${message}\n` };
}
