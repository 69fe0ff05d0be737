import { parseArgs } from "node:util";
import type { Consent } from "./deploy-consent.ts";
import { DeployError } from "./deploy-error.ts";
import { type Address, type Environment, ENVIRONMENTS } from "./deploy-target.ts";

export const DEPLOY_HELP = `Usage: npm run deploy -- [options]

Brings this clone to Cloudflare: checks, makes what is missing there, applies the migrations, uploads
the Worker, publishes the catalog and says where it is served. The same command upgrades.

  --env NAME         production (default) or staging
  --workers-dev      serve at the account's workers.dev subdomain, which needs no domain
  --domain HOST      serve at a custom domain of a zone in the account
                     One of the two, unless wrangler.toml has a route for the environment.
  --replace-domain   take a custom domain even if it serves something: its DNS record, and the custom
                     domain of another Worker, are replaced; asked for on a terminal otherwise
  --replace-worker   deploy over a Worker of the same name that has none of this service's secrets
  --token-file FILE  file that has the admin token; a new token is written to it if it is missing
  --new-token        replace all admin tokens that the service knows by one
  --dry-run          whatever needs no account: check, build, and print each command; of both
                     environments unless one is named
  --help             this text

Variables
  ADMIN_TOKEN            the admin token, instead of a file; a new one is made where there is none
  CLOUDFLARE_API_TOKEN   instead of "npx wrangler login"
  CLOUDFLARE_ACCOUNT_ID  which account, where there are several
`;

/** The command line of a deployment. */
export interface CommandLine {
  readonly help: boolean;
  readonly dryRun: boolean;
  /** Undefined if none was named. */
  readonly environment: Environment | undefined;
  /** What was asked for; "configured" if nothing was. */
  readonly address: Address;
  readonly consent: Consent;
  readonly tokenFile: string | undefined;
  readonly newToken: boolean;
}

const HOST = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])?$/;

/**
 * Reads the command line.
 *
 * @throws DeployError for a wrong value, and what `parseArgs` throws for a wrong option.
 */
export function readCommandLine(args: readonly string[]): CommandLine {
  const { values } = parseArgs({
    args: [...args],
    options: {
      env: { type: "string" },
      "workers-dev": { type: "boolean", default: false },
      domain: { type: "string" },
      "replace-domain": { type: "boolean", default: false },
      "replace-worker": { type: "boolean", default: false },
      "token-file": { type: "string" },
      "new-token": { type: "boolean", default: false },
      "dry-run": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  return {
    help: values.help,
    dryRun: values["dry-run"],
    environment: readEnvironment(values.env),
    address: readAddress(values["workers-dev"], values.domain),
    consent: {
      replaceDomain: values["replace-domain"],
      replaceWorker: values["replace-worker"],
    },
    tokenFile: values["token-file"],
    newToken: values["new-token"],
  };
}

function readEnvironment(name: string | undefined): Environment | undefined {
  const found = ENVIRONMENTS.find((environment) => environment === name);
  if (name !== undefined && found === undefined)
    throw new DeployError(`--env must be ${ENVIRONMENTS.join(" or ")}, not "${name}"`);
  return found;
}

function readAddress(isWorkersDev: boolean, domain: string | undefined): Address {
  if (domain === undefined) return { kind: isWorkersDev ? "workers.dev" : "configured" };
  if (isWorkersDev) throw new DeployError("Choose --workers-dev or --domain, not both");
  if (HOST.test(domain)) return { kind: "domain", domain };
  throw new DeployError(`--domain must be a host such as locations.example.com, not "${domain}"`);
}
