/** What a deployment takes from others only if its user agrees. */
import { DeployError } from "./deploy-error.ts";
import { OWN_SECRETS, type SecretNames } from "./deploy-secrets.ts";
import { type Address, customDomains, type Target } from "./deploy-target.ts";
import type { DeployTerminal } from "./deploy-terminal.ts";

/** What the user agrees to on the command line. */
export interface Consent {
  /** Take custom domains whatever they serve. */
  readonly replaceDomain: boolean;
  /** Deploy over a Worker that may be another service. */
  readonly replaceWorker: boolean;
}

export interface DomainConsent {
  readonly target: Target;
  readonly address: Address;
  readonly consent: Consent;
  readonly terminal: DeployTerminal;
}

/**
 * Asks before wrangler takes custom domains, which it does without a question where it runs on no
 * terminal. None of its commands tells what a domain serves now, so this asks each time.
 *
 * @throws DeployError if the user does not agree, or cannot be asked.
 */
export async function agreeOnDomains(options: DomainConsent): Promise<void> {
  const { target, address, consent, terminal } = options;
  const domains = customDomains(target, address);
  if (domains.length === 0 || consent.replaceDomain) return;
  const warning = describeReplacement(domains);
  if (!terminal.isInteractive)
    throw new DeployError(
      `${warning}\nWithout a terminal that needs consent; nothing was deployed. If this service is there already, or is to take its place, add: --replace-domain`,
    );
  if (await terminal.confirm(`${warning}\nGo on?`)) return;
  throw new DeployError(
    "Nothing was deployed, and what is served there stays. To serve elsewhere, name another host: --domain",
  );
}

/** What becomes of whatever custom domains serve now. */
export function describeReplacement(domains: readonly string[]): string {
  const [names, own] = [domains.join(" and "), domains.length === 1 ? "its" : "their"];
  return `${names} may serve something already: ${own} DNS record, and the custom domain of another Worker, are replaced.`;
}

/**
 * Knows a Worker of this service by its secrets, which every upload of this script sets or keeps.
 *
 * @throws DeployError if there is a Worker of the name that has none of them.
 */
export function agreeOnWorker(
  { workerName, environment }: Target,
  secrets: SecretNames | undefined,
  { replaceWorker }: Consent,
): void {
  if (secrets === undefined || replaceWorker) return;
  if (OWN_SECRETS.some((name) => secrets.has(name))) return;
  throw new DeployError(
    `This account has a Worker ${workerName} already, and it has none of this service's secrets (${OWN_SECRETS.join(", ")}), so it may be something else. Nothing was changed.
If it is something else, give [env.${environment}] in wrangler.toml another name, and its D1 database and R2 buckets too.
If it is this service, such as one that only Cloudflare Access guards, or if its code may be replaced, add: --replace-worker`,
  );
}
