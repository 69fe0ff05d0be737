/** What a deployment would do, for people to read. Pure. */
import {
  applyMigrations,
  buildWorker,
  type Command,
  createDatabase,
  createNamespace,
  deployWorker,
  LIST_DATABASES,
  LIST_NAMESPACES,
  listSecrets,
  WHO_AM_I,
} from "./deploy-commands.ts";
import { describeReplacement } from "./deploy-consent.ts";
import { type Address, customDomains, type Target } from "./deploy-target.ts";

export interface PlannedStep {
  readonly what: string;
  readonly command?: Command;
}

export interface PlanOptions {
  readonly address: Address;
  readonly configFile: string;
  readonly secretsFile: string;
}

/** Every step of a deployment in its order, with the wrangler command that it runs. */
export function planDeployment(
  target: Target,
  { address, configFile, secretsFile }: PlanOptions,
): PlannedStep[] {
  const domains = customDomains(target, address);
  return [
    { what: "see who is logged in", command: WHO_AM_I },
    ...(domains.length === 0
      ? []
      : [{ what: `ask, unless --replace-domain is given: ${describeReplacement(domains)}` }]),
    { what: "run the quick part of npm run check" },
    { what: "build the Worker", command: buildWorker(target, configFile) },
    {
      what: `see whether the Worker has its secret, and stop, unless --replace-worker is given, if ${target.workerName} is another one that has none of this service's`,
      command: listSecrets(target),
    },
    { what: "look for the KV namespace", command: LIST_NAMESPACES },
    { what: "make it, if missing", command: createNamespace(target) },
    { what: "look for the D1 database", command: LIST_DATABASES },
    { what: "make it, if missing", command: createDatabase(target) },
    { what: "apply the migrations", command: applyMigrations(target, configFile) },
    {
      what: `upload the Worker and its new secret, and make the R2 buckets ${target.bucketNames.join(" and ")}, if missing`,
      command: deployWorker(target, { configFile, secretsFile }),
    },
    { what: "or, if the Worker has its secret", command: deployWorker(target, { configFile }) },
    { what: "show a new admin token; if the upload failed, only where it may be set all the same" },
    { what: "wait until GET /catalog/health answers" },
    { what: "POST /admin/ingest/queue, and follow GET /admin/ingest/runs/{id}" },
  ];
}

export function describePlan(
  target: Target,
  address: Address,
  steps: readonly PlannedStep[],
): string {
  const lines = steps.flatMap(({ what, command }) => [
    `  ${what}`,
    ...(command === undefined ? [] : [`    wrangler ${command.join(" ")}`]),
  ]);
  const { workerName, environment, config } = target;
  return [
    `Plan for ${workerName} (${environment}) at ${describeAddress(address)}`,
    `  ${config.locales.length} locales from the source "${config.source}"`,
    ...lines,
  ].join("\n");
}

function describeAddress(address: Address): string {
  switch (address.kind) {
    case "workers.dev":
      return "the account's workers.dev subdomain";
    case "domain":
      return `https://${address.domain}`;
    case "configured":
      return "the routes of wrangler.toml";
    default:
      return address satisfies never;
  }
}
