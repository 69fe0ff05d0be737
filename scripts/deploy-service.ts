import { rmSync, writeFileSync } from "node:fs";
import type { Health } from "./catalog-health.ts";
import { findAccount } from "./deploy-account.ts";
import { applyMigrations, buildWorker } from "./deploy-commands.ts";
import { agreeOnDomains, agreeOnWorker, type Consent } from "./deploy-consent.ts";
import { DeployError } from "./deploy-error.ts";
import { provision } from "./deploy-provision.ts";
import { findSecrets, TOKENS_SECRET } from "./deploy-secrets.ts";
import {
  type Address,
  completeConfig,
  type Provisioned,
  readTarget,
  type Target,
} from "./deploy-target.ts";
import type { DeployTerminal } from "./deploy-terminal.ts";
import { type AdminToken, chooseToken, type TokenOptions } from "./deploy-token.ts";
import { upload } from "./deploy-upload.ts";
import { adminCaller, type Patience, untilServed } from "./deployed-service.ts";
import { followIngest, queueIngest } from "./ingest-progress.ts";
import type { ToolEnd } from "./run-tool.ts";
import type { Terminal } from "./terminal.ts";
import type { Wrangler } from "./wrangler.ts";

export interface DeployOptions {
  readonly environment: Target["environment"];
  readonly address: Address;
  readonly token: TokenOptions;
  readonly consent: Consent;
  /** Id of the Cloudflare account, where there are several. */
  readonly account: string | undefined;
}

/** What a deployment needs of the world. */
export interface DeployDependencies {
  readonly wrangler: Wrangler;
  /** The quick part of `npm run check`. */
  readonly check: () => Promise<ToolEnd>;
  readonly terminal: DeployTerminal;
  readonly patience: Patience;
  /** The URL at which a host that was deployed to is called. */
  readonly originOf: (host: string) => string;
}

/** What runs after a deployment. */
export interface Deployed {
  readonly url: string;
  readonly health: Health;
}

/**
 * Brings an environment from whatever it is to the state of this clone. Each step finds what an
 * earlier run has done, so that the same command also upgrades, and mends a run that broke off.
 *
 * @throws DeployError at the first step that fails.
 */
export async function deployService(
  options: DeployOptions,
  dependencies: DeployDependencies,
): Promise<Deployed> {
  const { wrangler, terminal } = dependencies;
  const { say } = terminal;
  const target = readTarget(options.environment);
  say(`Deploying ${target.workerName} (${target.environment})`);
  say(`  account: ${await findAccount(wrangler, options.account)}`);
  await agreeOnDomains({ ...options, target, terminal });
  say("Checking and building …");
  await checkAndBuild(target, options.address, dependencies);

  say("Provisioning …");
  const secrets = await findSecrets(wrangler, target);
  agreeOnWorker(target, secrets, options.consent);
  const hadSecret = secrets?.has(TOKENS_SECRET) ?? false;
  const token = await chooseToken(options.token, { hasSecret: hadSecret }, terminal);
  const ids = await provision({ target, wrangler, say });

  const host = await withConfig(target, options.address, ids, async (configFile) => {
    say("Applying migrations …");
    await migrate(wrangler, target, configFile);
    say("Uploading …");
    const { address } = options;
    return upload({ wrangler, target, configFile, token, address, hadSecret, terminal });
  });
  const url = dependencies.originOf(host);
  say(`Waiting for ${url} …`);
  const health = await untilServed(url, 0, dependencies.patience);
  return { url, health: await ingest({ url, health, token, target, dependencies }) };
}

/**
 * Whatever needs no account: the check, and the bundle as it would be uploaded.
 *
 * @throws DeployError with what is wrong.
 */
export async function checkAndBuild(
  target: Target,
  address: Address,
  { wrangler, check }: Pick<DeployDependencies, "wrangler" | "check">,
): Promise<void> {
  const checked = await check();
  if (!checked.ok)
    throw new DeployError(`The check failed; nothing was deployed.\n${checked.lastLines}`);
  await withConfig(target, address, undefined, async (configFile) => {
    const { ok, lastLines } = await wrangler(buildWorker(target, configFile));
    if (!ok) throw new DeployError(`The build failed; nothing was deployed.\n${lastLines}`);
  });
}

/** Name of the completed wrangler.toml, beside it since its paths are relative; for this process. */
export function configFileName({ environment }: Target): string {
  return `.wrangler-deploy-${environment}-${process.pid}.json`;
}

async function withConfig<T>(
  target: Target,
  address: Address,
  ids: Provisioned | undefined,
  use: (configFile: string) => Promise<T>,
): Promise<T> {
  const configFile = configFileName(target);
  writeFileSync(configFile, JSON.stringify(completeConfig(target, address, ids), null, 2));
  try {
    return await use(configFile);
  } finally {
    rmSync(configFile);
  }
}

async function migrate(wrangler: Wrangler, target: Target, configFile: string): Promise<void> {
  const { ok, lastLines } = await wrangler(applyMigrations(target, configFile));
  if (ok) return;
  throw new DeployError(
    `The D1 migrations could not be applied. Wrangler has taken back the one that failed and kept those before it; the Worker was not deployed, and what is served is as before. Wrangler says:\n${lastLines}`,
  );
}

interface Ingest {
  readonly url: string;
  readonly health: Health;
  readonly token: AdminToken;
  readonly target: Target;
  readonly dependencies: Pick<DeployDependencies, "terminal" | "patience">;
}

/** Queues an ingest and waits until its catalog is served; how the service is then. */
async function ingest({ url, health, token, target, dependencies }: Ingest): Promise<Health> {
  const { terminal, patience } = dependencies;
  if (token.text === undefined) return withoutToken(url, health, terminal);
  const access = { token: token.text, isNew: token.secret !== undefined };
  const call = adminCaller(url, access, patience);
  terminal.say("Ingesting …");
  const { run } = await queueIngest(call);
  const localeCount = target.config.locales.length;
  const end = await followIngest({ call, runId: run.id, localeCount, pollMs: patience.pollMs });
  if (end.ok) return untilServed(url, end.generation, patience);
  if (end.reason === "paused") {
    terminal.say(
      `  Ingestion is paused: run ${run.id} goes on when it is resumed: POST ${url}/admin/ingest/resume`,
    );
    return health;
  }
  throw new DeployError(
    `${end.problem}\nThe Worker is deployed at ${url}; what it served before, it serves still. Correct the cause and queue another ingest: POST ${url}/admin/ingest/queue`,
  );
}

function withoutToken(url: string, health: Health, { say }: Terminal): Health {
  if (health.version === undefined)
    throw new DeployError(
      `The Worker is deployed at ${url}, but nothing is published yet, and without the admin token no ingest can be queued. Run the same command with the token in ADMIN_TOKEN; if it is lost, with --new-token.`,
    );
  say("  No admin token was given, so no ingest is queued; the next one comes by cron.");
  return health;
}
