/** What a deployment takes from others only if its user agrees. */
import { DeployError } from "./deploy-error.ts";
import { type Address, customDomains, type Target } from "./deploy-target.ts";
import type { DeployTerminal } from "./deploy-terminal.ts";

/** What the user agrees to on the command line. */
export interface Consent {
  /** Take custom domains whatever they serve. */
  readonly replaceDomain: boolean;
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
    "Nothing was deployed. Name another host with --domain, or serve at --workers-dev.",
  );
}

/** What becomes of whatever custom domains serve now. */
export function describeReplacement(domains: readonly string[]): string {
  const [names, own] = [domains.join(" and "), domains.length === 1 ? "its" : "their"];
  return `${names} may serve something already: ${own} DNS record, and the custom domain of another Worker, are replaced.`;
}
