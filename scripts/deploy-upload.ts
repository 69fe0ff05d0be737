import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { deployWorker } from "./deploy-commands.ts";
import { DeployError } from "./deploy-error.ts";
import { findSecrets, TOKENS_SECRET } from "./deploy-secrets.ts";
import type { Address, Target } from "./deploy-target.ts";
import { type AdminToken, showToken } from "./deploy-token.ts";
import type { Terminal } from "./terminal.ts";
import type { Wrangler, WranglerEnd } from "./wrangler.ts";

export interface Upload {
  readonly wrangler: Wrangler;
  readonly target: Target;
  readonly configFile: string;
  readonly token: AdminToken;
  readonly address: Address;
  /** Whether the Worker had the secret before. */
  readonly hadSecret: boolean;
  readonly terminal: Terminal;
}

/**
 * Deploys the Worker with its secret, and shows a new token as soon as it is valid, or may be; the
 * host at which it is served.
 *
 * @throws DeployError that says whether the Worker was uploaded.
 */
export async function upload(options: Upload): Promise<string> {
  const { target, address, token, terminal } = options;
  const end = await deployWithSecret(options);
  if (isUploaded(end, target)) showToken(token, "set", terminal);
  else if (token.isUnseen && (await mayBeSet(options))) showToken(token, "perhaps", terminal);
  if (end.ok) return serviceHost(end.reports, address, target);
  throw new DeployError(describeFailure(end, target));
}

/** The secret has a file for as long as that takes. */
async function deployWithSecret(options: Upload): Promise<WranglerEnd> {
  const { wrangler, target, configFile, token } = options;
  const folder = mkdtempSync(join(tmpdir(), "locations-secrets-"));
  try {
    const secretsFile = token.secret === undefined ? undefined : join(folder, "secrets.json");
    if (secretsFile !== undefined)
      writeFileSync(secretsFile, JSON.stringify({ [TOKENS_SECRET]: token.secret }), {
        mode: 0o600,
      });
    return await wrangler(deployWorker(target, { configFile, secretsFile }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Whether the secret may be set though the upload was broken off, or its answer was lost. Which value
 * it has cannot be asked.
 */
async function mayBeSet({ wrangler, target, hadSecret }: Upload): Promise<boolean> {
  if (hadSecret) return true;
  try {
    return (await findSecrets(wrangler, target))?.has(TOKENS_SECRET) ?? false;
  } catch {
    // An interruption ends this question too: rather a void token is shown than a valid one lost.
    return true;
  }
}

function describeFailure(end: WranglerEnd, target: Target): string {
  const said = `Wrangler says:\n${end.lastLines}`;
  const isThere = isUploaded(end, target);
  const withoutAddress = isThere
    ? "The Worker is uploaded, but it has no address yet"
    : "The Worker was not uploaded, since it would have no address";
  if (NO_SUBDOMAIN.test(end.lastLines))
    return `${withoutAddress}: this account has no workers.dev subdomain. Register one in the dashboard, under Workers & Pages, and run the same command again: what is there is kept. ${said}`;
  if (isThere)
    return `The Worker is uploaded, but not all of its addresses and schedules could be set. ${said}\nCorrect that and run the same command again: what is there is kept.`;
  return `The Worker could not be deployed. The Workers Paid plan is needed, and R2 must have been enabled once in the dashboard. ${said}\nCorrect that and run the same command again: what is provisioned is kept.`;
}

/** In the words of the wrangler that package.json pins, which then goes on to addresses and schedules. */
function isUploaded({ ok, stdout }: WranglerEnd, { workerName }: Target): boolean {
  return ok || stdout.includes(`Uploaded ${workerName} (`);
}

/** Of the same wrangler: before it uploads a new Worker, and after it has uploaded another version. */
const NO_SUBDOMAIN = /register a workers\.dev subdomain/;

const deployReport = z.object({ type: z.literal("deploy"), targets: z.array(z.string()) });

/** The URL among the targets that wrangler reports, which are also routes and schedules. */
const WORKERS_DEV_URL = /^https:\/\/([a-z0-9.-]+\.workers\.dev)$/;

function serviceHost(reports: readonly unknown[], address: Address, target: Target): string {
  if (address.kind === "domain") return address.domain;
  const targets = reports.flatMap((report) => deployReport.safeParse(report).data?.targets ?? []);
  const atWorkersDev = targets.flatMap((text) => WORKERS_DEV_URL.exec(text)?.[1] ?? [])[0];
  const host = address.kind === "workers.dev" ? atWorkersDev : (target.routedHost ?? atWorkersDev);
  if (host !== undefined) return host;
  throw new DeployError(
    `The Worker is deployed, but at no host that could be called from here: ${targets.join(", ")}. Queue the first ingest yourself: POST /admin/ingest/queue`,
  );
}
