/** `npm run deploy`: from this clone to a service that runs on Cloudflare. */
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { CommandError, runCommand, say } from "./command.ts";
import {
  commandsOf,
  findSecrets,
  deployWorker,
  migrate,
  provision,
  withConfig,
} from "./deploy-steps.ts";
import {
  type Address,
  type Environment,
  ENVIRONMENTS,
  readTarget,
  type Target,
} from "./deploy-target.ts";
import { ingest } from "./ingest-progress.ts";
import { onlyToken } from "./new-admin-token.ts";
import { adminCaller, callUrl, type Served, untilServed } from "./service-call.ts";
import { run } from "./wrangler.ts";

const HELP = `Usage: npm run deploy -- [options]

Brings this clone to Cloudflare: checks, makes what is missing there, applies the migrations, deploys
the Worker, publishes the catalog and says where it is served. The same command upgrades.

  --env NAME        production (default) or staging
  --workers-dev     serve at the account's workers.dev subdomain, which needs no domain
  --domain HOST     serve at a custom domain of a zone in the account
                    One of the two, unless wrangler.toml has a route for the environment.
  --replace-domain  take the custom domain whatever it serves; on a terminal wrangler asks
  --dry-run         check, build and print each command, which needs no account; of both
                    environments unless one is named
  --help            this text

Variables
  ADMIN_TOKEN            the admin token, which queues the ingest; a new one is made where there is none
  CLOUDFLARE_API_TOKEN   instead of "npx wrangler login"
  CLOUDFLARE_ACCOUNT_ID  which account, where there are several
`;

interface Options {
  /** Undefined if none was named. */
  readonly environment: Environment | undefined;
  readonly address: Address;
  readonly replaceDomain: boolean;
  readonly dryRun: boolean;
}

/** A new address takes some minutes to get its DNS entry and certificate. */
const PATIENCE = { pollMs: 1_000, deadlineMs: 600_000 };

async function deploy(options: Options, signal: AbortSignal): Promise<void> {
  signal.addEventListener("abort", () => void (process.exitCode = 130));
  const target = readTarget(options.environment ?? "production");
  const { address } = options;
  assertAddress(target, options);
  say(`Deploying ${target.workerName} (${target.environment})`);
  await quickCheck(signal);
  const secrets = await findSecrets(target, signal);
  if (secrets?.has("ADMIN_TOKENS") === false) throw mayBeAnother(target);
  const token = chooseToken(secrets !== undefined);
  const ids = await provision(target, signal);
  const atWorkersDev = await withConfig(target, { address, ids }, async (configFile) => {
    say("Applying migrations …");
    await migrate(target, configFile, signal);
    say("Deploying …");
    return deployWorker({ target, configFile, adminTokens: token.secret }, signal);
  });
  const url = urlOf(target, address, atWorkersDev);
  say(`Waiting for ${url} …`);
  const answers = (seen: Served) => seen.ok || seen.code !== null;
  const first = await untilServed(url, answers, { ...PATIENCE, signal });
  if (!answers(first)) throw silence(url, first);
  const served = await publish(url, token, { target, first, signal });
  say(farewell(url, served));
  if (!served.ok) process.exitCode = 1;
  const unset = ["ALERT_WEBHOOKS", "ALERT_PING_URL"].filter((name) => secrets?.has(name) !== true);
  if (unset.length > 0) say(unwatched(target, unset));
}

/** Checks, builds, and prints each command that would change something. */
async function rehearse(options: Options, signal: AbortSignal): Promise<void> {
  await quickCheck(signal);
  const { environment, address } = options;
  for (const name of environment === undefined ? ENVIRONMENTS : [environment]) {
    const target = readTarget(name);
    assertAddress(target, { ...options, replaceDomain: true });
    await withConfig(target, { address }, async (configFile) => {
      const commands = commandsOf(target, configFile);
      const build = [...commands.deploy, "--dry-run", "--outdir", "dist"] as const;
      await run(build, { signal, onFailure: "The Worker cannot be built." });
      const { locales, source } = target.config;
      say(`\nPlan for ${target.workerName} (${name}): ${locales.length} locales from "${source}"`);
      for (const command of Object.values(commands)) say(`  ${command.join(" ")}`);
    });
  }
  say("\nChecked and built; nothing was deployed.");
}

/** A deployment without an address would take the last one away, and wrangler takes any domain. */
function assertAddress(target: Target, { address, replaceDomain }: Options): void {
  const { environment, routes, workersDev } = target;
  if (!address.workersDev && address.domain === undefined && !workersDev && routes.length === 0)
    throw new CommandError(
      `Where is ${target.workerName} to be served? Choose one:
  --workers-dev   at the account's workers.dev subdomain, where Cloudflare Access cannot stand in
                  front of /admin: whoever has the admin token may use it
  --domain HOST   at a custom domain of a zone in the account, such as locations.example.com
To settle it once, write "workers_dev = true" or "routes" into [env.${environment}] of wrangler.toml.`,
    );
  const isCustom = address.domain !== undefined || routes.some((route) => route.custom_domain);
  const wranglerAsks = process.stdin.isTTY && process.stdout.isTTY;
  if (isCustom && !replaceDomain && !wranglerAsks)
    throw new CommandError(
      "Nothing was deployed: a custom domain that serves something already, such as another Worker, is taken from it, and without a terminal wrangler does not ask. If that is meant, or the domain is this service's: --replace-domain",
    );
}

async function quickCheck(signal: AbortSignal): Promise<void> {
  const check = ["npm", "run", "--silent", "check:quick"] as const;
  await run(check, { signal, onFailure: "Nothing was deployed." });
}

function mayBeAnother({ workerName, environment }: Target): CommandError {
  return new CommandError(
    `This account has a Worker ${workerName} without the secret ADMIN_TOKENS, so it may be another service. Nothing was changed.
If it is, give [env.${environment}] in wrangler.toml another name, and its D1 database and R2 buckets too.
If it is this one, set its secret (npm run token) and run the same command again.`,
  );
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

function urlOf({ routes }: Target, { domain, workersDev }: Address, atWorkersDev?: string): string {
  const hosts = routes.map(
    ({ pattern }) => pattern.replace(/^https?:\/\//, "").split("/")[0] ?? "",
  );
  const host = domain ?? (workersDev ? undefined : hosts.find((name) => !name.includes("*")));
  const url = host === undefined ? atWorkersDev : `https://${host}`;
  if (url !== undefined) return url;
  throw new CommandError(
    "The Worker is deployed, but at no host that could be called from here. Queue the first ingest yourself: POST /admin/ingest/queue",
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

/** Queues an ingest and waits until its catalog is served; what the service answers then. */
async function publish(
  url: string,
  token: AdminToken,
  { target, first, signal }: Before,
): Promise<Served> {
  if (token.text === undefined) {
    say("No ADMIN_TOKEN was given, so that no ingest is queued; the next one comes by cron.");
    return first;
  }
  const end = await ingest({
    call: adminCaller(url, token.text, signal),
    localeCount: target.config.locales.length,
    pollMs: PATIENCE.pollMs,
    patienceMs: PATIENCE.deadlineMs,
    isTokenNew: token.secret !== undefined,
    signal,
  });
  if (end.ok) {
    const isNew = (seen: Served) => seen.ok && seen.generation >= end.generation;
    return untilServed(url, isNew, { ...PATIENCE, signal });
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

  curl --compressed --json '{"locale":"de"}' ${callUrl(url)} | head -c 1000

Health  ${url}/catalog/health`;
}

function unwatched({ environment }: Target, unset: readonly string[]): string {
  return `
Nobody is notified of alerts until the secret ALERT_WEBHOOKS is set, nor of the service's own silence
until ALERT_PING_URL is (docs/alerts.md):

${unset.map((name) => `  npx wrangler secret put ${name} --env ${environment}`).join("\n")}`;
}

const HOST = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])?$/;

function readOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      env: { type: "string" },
      "workers-dev": { type: "boolean", default: false },
      domain: { type: "string" },
      "replace-domain": { type: "boolean", default: false },
      "dry-run": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const { env, domain, "workers-dev": workersDev } = values;
  const environment = ENVIRONMENTS.find((name) => name === env);
  if (env !== undefined && environment === undefined)
    throw new CommandError(`--env must be ${ENVIRONMENTS.join(" or ")}, not "${env}"`);
  if (domain !== undefined && workersDev)
    throw new CommandError("Choose --workers-dev or --domain, not both");
  if (domain !== undefined && !HOST.test(domain))
    throw new CommandError(
      `--domain must be a host such as locations.example.com, not "${domain}"`,
    );
  const address = { workersDev, domain };
  const { "replace-domain": replaceDomain, "dry-run": dryRun } = values;
  return { environment, address, replaceDomain, dryRun };
}

await runCommand(HELP, async (signal) => {
  const options = readOptions();
  if (options === undefined) process.stdout.write(HELP);
  else await (options.dryRun ? rehearse : deploy)(options, signal);
});
