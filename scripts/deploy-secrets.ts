import { z } from "zod";
import { listSecrets } from "./deploy-commands.ts";
import { DeployError } from "./deploy-error.ts";
import type { Target } from "./deploy-target.ts";
import { parseJson } from "../src/parse-json.ts";
import type { Wrangler } from "./wrangler.ts";

/** The one that a deployment sets. */
export const TOKENS_SECRET = "ADMIN_TOKENS";

/** All that this service has or may have. */
export const OWN_SECRETS = [TOKENS_SECRET, "ALERT_WEBHOOKS", "ALERT_PING_URL"] as const;

export type SecretNames = ReadonlySet<string>;

const secrets = z.array(z.object({ name: z.string() }));

/**
 * Names of the secrets that the deployed Worker has; undefined if there is no such Worker yet.
 *
 * @throws DeployError if that cannot be found out.
 */
export async function findSecrets(
  wrangler: Wrangler,
  target: Target,
): Promise<SecretNames | undefined> {
  const { ok, stdout, lastLines } = await wrangler(listSecrets(target));
  // The words of the wrangler that package.json pins.
  if (!ok && lastLines.includes(`Worker "${target.workerName}" not found`)) return undefined;
  const parsed = secrets.safeParse(ok ? parseJson(stdout) : undefined);
  if (parsed.success) return new Set(parsed.data.map(({ name }) => name));
  throw new DeployError(
    `Whether ${target.workerName} is deployed already could not be found out. Nothing was changed. Wrangler says:\n${lastLines}`,
  );
}
