/** `npm run deploy`: from this clone to a service that runs on Cloudflare. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeployError } from "./deploy-error.ts";
import { type CommandLine, DEPLOY_HELP, readCommandLine } from "./deploy-options.ts";
import { describePlan, planDeployment } from "./deploy-plan.ts";
import { checkAndBuild, configFileName, type Deployed, deployService } from "./deploy-service.ts";
import { type Address, ENVIRONMENTS, readTarget, type Target } from "./deploy-target.ts";
import { type DeployTerminal, deployTerminal } from "./deploy-terminal.ts";
import { PATIENCE } from "./deployed-service.ts";
import { runTool, type ToolEnd } from "./run-tool.ts";
import { WRANGLER_SCRIPT, wranglerRunner } from "./wrangler.ts";

async function deploy(
  line: CommandLine,
  terminal: DeployTerminal,
  signal: AbortSignal,
): Promise<void> {
  const wrangler = wranglerRunner(WRANGLER_SCRIPT, signal);
  const check = onlyOnce(() => quickCheck(signal));
  if (line.dryRun) {
    const names = line.environment === undefined ? ENVIRONMENTS : [line.environment];
    for (const environment of names) {
      const target = readTarget(environment);
      const address = chooseAddress(line.address, target);
      await checkAndBuild(target, address, { wrangler, check });
      terminal.say(dryRunReport(target, address));
    }
    return;
  }
  const environment = line.environment ?? "production";
  const address = chooseAddress(line.address, readTarget(environment));
  const token = {
    given: variable("ADMIN_TOKEN"),
    file: line.tokenFile,
    replace: line.newToken,
  };
  const options = {
    environment,
    address,
    token,
    consent: line.consent,
    account: variable("CLOUDFLARE_ACCOUNT_ID"),
  };
  const originOf = (host: string) => `https://${host}`;
  const dependencies = { wrangler, check, terminal, patience: PATIENCE, originOf };
  terminal.say(farewell(await deployService(options, dependencies)));
}

/** Asked for, or in wrangler.toml: a deployment that has no address would take the last one away. */
function chooseAddress(asked: Address, target: Target): Address {
  if (asked.kind !== "configured" || target.isReachable) return asked;
  throw new DeployError(
    `Where is ${target.workerName} to be served? Choose one:
  --workers-dev   at the account's workers.dev subdomain. Admin routes are open to whoever has the
                  admin token; Cloudflare Access cannot stand in front of a path there.
  --domain HOST   at a custom domain of a zone in the account, such as locations.example.com
To settle it once, write "workers_dev = true" or "routes" into [env.${target.environment}] of wrangler.toml.`,
  );
}

/** A variable of the environment; an empty one, as workflows pass for what is not set, is none. */
function variable(name: string): string | undefined {
  const value = process.env[name];
  return value === "" ? undefined : value;
}

function quickCheck(signal: AbortSignal): Promise<ToolEnd> {
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  return runTool({ command: [npm, "run", "--silent"], env: process.env, signal }, ["check:quick"]);
}

function onlyOnce<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => (answer ??= ask());
}

function dryRunReport(target: Target, address: Address): string {
  const configFile = configFileName(target);
  const secretsFile = join(tmpdir(), "secrets.json");
  const plan = describePlan(
    target,
    address,
    planDeployment(target, { address, configFile, secretsFile }),
  );
  return `${plan}\nChecked and built; nothing was deployed.\n`;
}

function farewell({ url, health }: Deployed): string {
  const lists = Object.entries(health.counts).map(([list, count]) => `${count} ${list}`);
  const what =
    lists.length === 0 ? "Running, with nothing published yet," : `Serving ${lists.join(", ")}`;
  return `
${what} at ${url}

  curl --compressed --json '{"locale":"de"}' ${url}/locations.v1.LocationsService/GetLocationsV1 | head -c 1000

Health  ${url}/catalog/health`;
}

/** Aborts when the user or the system wants an end. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(name, () => controller.abort());
  return controller.signal;
}

/** A mistake in the command line, as `parseArgs` reports it. */
function isUsageError(error: unknown): error is Error {
  return (
    error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")
  );
}

const stopping = stopSignal();
try {
  const line = readCommandLine(process.argv.slice(2));
  if (line.help) process.stdout.write(DEPLOY_HELP);
  else await deploy(line, deployTerminal(stopping), stopping);
} catch (error) {
  process.exitCode = 1;
  // What fails after a signal fails because of it.
  if (stopping.aborted) process.stderr.write("\nInterrupted. Run the same command to go on.\n");
  else if (error instanceof DeployError) process.stderr.write(`\n${error.message}\n`);
  else if (isUsageError(error)) process.stderr.write(`${error.message}\n\n${DEPLOY_HELP}`);
  else throw error;
}
