/** `npm run deploy`: `wrangler deploy` with a check before it, an admin token, and the first ingest. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { parseJson } from "../src/parse-json.ts";
import { CommandError, runCommand, say } from "./command.ts";
import { readTarget, type Target, withNamespace } from "./deploy-target.ts";
import { ingest } from "./ingest-progress.ts";
import { onlyToken } from "./new-admin-token.ts";
import { adminCaller, callUrl, type Served, untilServed } from "./service-call.ts";
import { runWrangler, wranglerError } from "./wrangler.ts";

const HELP = `Usage: npm run deploy -- [options]

Runs "wrangler deploy" for this clone: checks it first, gives a new service its admin token, publishes
the catalog and says where it is served. The same command upgrades.

  --env staging     deploy the environment staging instead of production
  --domain HOST     serve at a custom domain of a zone in the account, unless wrangler.toml has routes;
                    without either it is served at the account's workers.dev subdomain
  --replace-domain  take the custom domain whatever it serves; on a terminal wrangler asks
  --dry-run         check and build, which needs no account
  --help            this text

Variables
  ADMIN_TOKEN            the admin token, which queues the ingest; a new one is made where there is none
  CLOUDFLARE_API_TOKEN   instead of "npx wrangler login"
  CLOUDFLARE_ACCOUNT_ID  which account, where there are several
`;

interface Options {
  readonly environment: Target["environment"];
  readonly domain: string | undefined;
  readonly replaceDomain: boolean;
  readonly dryRun: boolean;
}

const NOTHING_DEPLOYED = "Nothing was deployed. Correct that and run the same command again.";
const POLL_MS = 1_000;
/** A new address takes some minutes to get its DNS entry and certificate. */
const ADDRESS_DEADLINE_MS = 600_000;
/** Five minutes until the coordinator queues its first ingest, and as many for the ingest, twice. */
const FIRST_INGEST_DEADLINE_MS = 1_200_000;

async function deploy(options: Options, signal: AbortSignal): Promise<void> {
  signal.addEventListener("abort", () => void (process.exitCode = 130));
  const target = readTarget(options.environment);
  assertDomain(target, options);
  await check(signal);
  const flags = [
    ...(target.environment === undefined ? ["--env="] : [`--env=${target.environment}`]),
    ...(options.domain === undefined ? [] : [`--domain=${options.domain}`]),
  ];
  if (options.dryRun) {
    await wrangler(["deploy", "--dry-run", "--outdir=dist", ...flags], signal);
    return say("\nChecked and built; nothing was deployed.");
  }
  const secrets = await findSecrets(target, signal);
  const token = chooseToken(secrets !== undefined);
  const namespaceId = secrets === undefined ? await findNamespace(target, signal) : undefined;
  const upload = (more: readonly string[] = []) =>
    withSecret(token.secret, (secretFlags) =>
      wrangler(["deploy", ...flags, ...more, ...secretFlags], signal),
    );
  const targets =
    namespaceId === undefined
      ? await upload()
      : await withNamespace(target, namespaceId, (file) => upload([`--config=${file}`]));
  const url = urlOf(targets);
  say(`Waiting for ${url} …`);
  const answers = (seen: Served) => seen.ok || seen.code !== null;
  const wait = { pollMs: POLL_MS, deadlineMs: ADDRESS_DEADLINE_MS, signal };
  const first = await untilServed(url, answers, wait);
  if (!answers(first)) throw silence(url, first);
  const served = await publish(url, token, { target, first, signal });
  say(farewell(url, served));
  if (!served.ok) process.exitCode = 1;
  const unset = ["ALERT_WEBHOOKS", "ALERT_PING_URL"].filter((name) => secrets?.has(name) !== true);
  if (unset.length > 0) say(unwatched(target, unset));
}

/** Without a terminal wrangler takes any domain from whatever it serves. */
function assertDomain({ hasDomain }: Target, { domain, replaceDomain, dryRun }: Options): void {
  const wranglerAsks = process.stdin.isTTY && process.stdout.isTTY;
  if ((domain !== undefined || hasDomain) && !replaceDomain && !dryRun && !wranglerAsks)
    throw new CommandError(
      "Nothing was deployed: a custom domain that serves something already, such as another Worker, is taken from it, and without a terminal wrangler does not ask. If that is meant, or the domain is this service's: --replace-domain",
    );
}

async function check(signal: AbortSignal): Promise<void> {
  const npm = spawn("npm", ["run", "--silent", "check:quick"], { signal, stdio: "inherit" });
  const [code] = await once(npm, "close");
  if (code !== 0) throw new CommandError(`The check failed, as shown above. ${NOTHING_DEPLOYED}`);
}

/** Runs wrangler for its user to see. Returns where a deployed Worker is served. */
async function wrangler(args: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  const end = await runWrangler(args, { signal, isShown: true });
  if (end.ok) return end.targets;
  const goesOn = "Run the same command again: it goes on from what there is.";
  throw wranglerError(args, end, goesOn);
}

/** Asks wrangler for a list. */
async function list<T>(args: readonly string[], item: z.ZodType<T>, signal: AbortSignal) {
  const end = await runWrangler(args, { signal, isShown: false });
  const listed = z.array(item).safeParse(end.ok ? parseJson(end.stdout) : undefined);
  if (listed.success) return listed.data;
  return { end, error: wranglerError(args, end, NOTHING_DEPLOYED) };
}

const secretItem = z.object({ name: z.string() });
const namespaceItem = z.object({ id: z.string(), title: z.string() });

/** Names of the secrets that the deployed Worker has; undefined if there is no such Worker. */
async function findSecrets(target: Target, signal: AbortSignal) {
  const { workerName } = target;
  const args = ["secret", "list", `--name=${workerName}`, "--format=json"];
  const secrets = await list(args, secretItem, signal);
  if ("error" in secrets) {
    // The words of the wrangler that package.json pins.
    if (secrets.end.failure?.message.includes(`Worker "${workerName}" not found`) === true)
      return undefined;
    throw secrets.error;
  }
  const names = new Set(secrets.map(({ name }) => name));
  if (names.has("ADMIN_TOKENS")) return names;
  throw new CommandError(
    `This account has a Worker ${workerName} without the secret ADMIN_TOKENS, so it may be another service. Nothing was changed.
If it is, choose another name in wrangler.toml, and other names for its D1 database and R2 buckets.
If it is this one, set its secret (npm run token) and run the same command again.`,
  );
}

/**
 * Finds the namespace that a broken first deployment has left. Wrangler finds databases and buckets by
 * their names, but makes a namespace for each Worker that has none, and fails where the title is taken.
 */
async function findNamespace({ namespaceTitle }: Target, signal: AbortSignal) {
  const namespaces = await list(["kv", "namespace", "list"], namespaceItem, signal);
  if ("error" in namespaces) throw namespaces.error;
  return namespaces.find(({ title }) => title === namespaceTitle)?.id;
}

interface AdminToken {
  /** Undefined if the service has one that nobody gave here. */
  readonly text: string | undefined;
  /** Value of the secret ADMIN_TOKENS, if it is to be set. */
  readonly secret: string | undefined;
}

/** What the Worker accepts as a bearer token (RFC 6750), and long enough not to be guessed. */
const TOKEN = /^[\x21-\x7e]{20,512}$/;

/** The given token, or a new one for a service that has none. The tokens that it has stay. */
function chooseToken(isSet: boolean): AdminToken {
  const given = process.env["ADMIN_TOKEN"] || undefined; // empty where a workflow has none
  if (given !== undefined && !TOKEN.test(given))
    throw new CommandError(
      "ADMIN_TOKEN must have 20 to 512 visible ASCII characters without spaces, such as those of: openssl rand -base64 32",
    );
  if (isSet) return { text: given, secret: undefined };
  if (given !== undefined) return { text: given, secret: onlyToken("operator", given) };
  if (!process.stdout.isTTY)
    throw new CommandError(
      "The service needs an admin token, and without a terminal a new one would end up in a log. Nothing was deployed. Give one in the variable ADMIN_TOKEN, such as that of: openssl rand -base64 32",
    );
  const text = randomBytes(32).toString("base64url");
  say(`Admin token, shown only this once, and valid if the Worker is uploaded:\n\n  ${text}\n`);
  return { text, secret: onlyToken("operator", text) };
}

/** Calls with the flags that set the secret ADMIN_TOKENS, if it is to be set. */
async function withSecret<T>(
  secret: string | undefined,
  use: (flags: readonly string[]) => Promise<T>,
): Promise<T> {
  if (secret === undefined) return use([]);
  const folder = mkdtempSync(join(tmpdir(), "locations-secrets-"));
  const file = join(folder, "secrets.json");
  try {
    writeFileSync(file, JSON.stringify({ ADMIN_TOKENS: secret }), { mode: 0o600 });
    return await use([`--secrets-file=${file}`]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Where to call the service, by the places that wrangler names; a custom domain first. */
function urlOf(targets: readonly string[]): string {
  const [host] = targets.flatMap(
    (text) => /^([a-z0-9.-]+)\S* \((?:custom|zone)/.exec(text)?.[1] ?? [],
  );
  const url =
    host === undefined ? targets.find((text) => /^https?:/.test(text)) : `https://${host}`;
  if (url !== undefined) return url;
  throw new CommandError(
    "The Worker is deployed, but at no host that could be called from here. It queues its first ingest within five minutes.",
  );
}

function silence(url: string, seen: Served): CommandError {
  return new CommandError(
    `The Worker is deployed, but ${callUrl(url)} does not answer as it should${seen.ok ? "" : `: ${seen.problem}`}.
A new address can take some minutes. When it answers, run the same command again. If it never does, "npx wrangler tail" shows what the Worker logs.`,
  );
}

interface Before {
  readonly target: Target;
  /** What the service answered before. */
  readonly first: Served;
  readonly signal: AbortSignal;
}

/** Waits until the catalog of an ingest is served. Returns what the service answers then. */
async function publish(
  url: string,
  token: AdminToken,
  { target, first, signal }: Before,
): Promise<Served> {
  if (token.text === undefined && first.ok) {
    say("No ADMIN_TOKEN was given, so that no ingest is queued; the next one comes by cron.");
    return first;
  }
  if (token.text === undefined) {
    say("Waiting for the first ingest, which the service queues within five minutes …");
    const wait = { pollMs: POLL_MS, deadlineMs: FIRST_INGEST_DEADLINE_MS, signal };
    return untilServed(url, (seen) => seen.ok, wait);
  }
  const end = await ingest({
    call: adminCaller(url, token.text, signal),
    localeCount: target.config.locales.length,
    pollMs: POLL_MS,
    patienceMs: ADDRESS_DEADLINE_MS,
    isTokenNew: token.secret !== undefined,
    signal,
  });
  if (end.ok) {
    const isNew = (seen: Served) => seen.ok && seen.generation >= end.generation;
    return untilServed(url, isNew, { pollMs: POLL_MS, deadlineMs: ADDRESS_DEADLINE_MS, signal });
  }
  const again = end.reason === "paused" ? "resume" : "queue";
  const problem = `${end.problem}\nWhat was served before is served still. To go on: POST ${url}/admin/ingest/${again}`;
  if (end.reason !== "paused")
    throw new CommandError(`The Worker is deployed at ${url}. ${problem}`);
  say(problem);
  return first;
}

function farewell(url: string, served: Served): string {
  const what = served.ok ? `Serving ${served.counts}` : `Every call fails (${served.problem})`;
  return `
${what} at ${url}

  curl -s --compressed --json '{"locale":"de"}' ${callUrl(url)} | head -c 1000

Health  ${url}/catalog/health`;
}

function unwatched({ environment }: Target, unset: readonly string[]): string {
  const where = environment === undefined ? "" : ` --env ${environment}`;
  return `
Nobody is notified of alerts until the secret ALERT_WEBHOOKS is set, nor of the service's own silence
until ALERT_PING_URL is (docs/alerts.md):

${unset.map((name) => `  npx wrangler secret put ${name}${where}`).join("\n")}`;
}

const HOST = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])?$/;

function readOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      env: { type: "string" },
      domain: { type: "string" },
      "replace-domain": { type: "boolean", default: false },
      "dry-run": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const { env, domain, "replace-domain": replaceDomain, "dry-run": dryRun } = values;
  if (env !== undefined && env !== "staging")
    throw new CommandError(`--env must be staging, or left out for production, not "${env}"`);
  if (domain !== undefined && !HOST.test(domain))
    throw new CommandError(
      `--domain must be a host such as locations.example.com, not "${domain}"`,
    );
  return { environment: env, domain, replaceDomain, dryRun };
}

await runCommand(HELP, async (signal) => {
  const options = readOptions();
  if (options === undefined) process.stdout.write(HELP);
  else await deploy(options, signal);
});
