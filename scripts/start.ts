/** `npm start`: the whole service on this machine, with a published catalog. */
import { parseArgs } from "node:util";
import { unstable_readConfig } from "wrangler";
import manifest from "../data/snapshot/manifest.json" with { type: "json" };
import { ConfigError, loadConfig, type Settings } from "../src/config.ts";
import { localAdminToken } from "./local-admin-token.ts";
import { ingest, untilServedHere } from "./local-ingest.ts";
import { LocalWorker } from "./local-worker.ts";
import { StartError } from "./start-error.ts";
import { pausedNotice, welcome } from "./welcome.ts";

const HELP = `Usage: npm start -- [options]

Starts the service on this machine and publishes the embedded snapshot. Needs no account and no
network. Ctrl-C stops everything.

  --port N          port to listen on (default 8787)
  --locales LIST    locales to publish: "default", "all" or a list such as en,de,pt
  --state FOLDER    where to store it all (default .wrangler/state)
  --fresh           forget what earlier starts stored there, and begin anew
  --var NAME=VALUE  a setting of wrangler.toml, or a secret; may be given several times
  --help            this text
`;

interface Options {
  readonly port: number;
  /** As given: a list, or a word for one. */
  readonly locales: string;
  /** How many locales that are. */
  readonly localeCount: number;
  readonly stateFolder: string;
  readonly fresh: boolean;
  /** Settings by name, instead of those in wrangler.toml. */
  readonly vars: { readonly [name: string]: string };
}

async function start(options: Options, signal: AbortSignal): Promise<void> {
  const token = localAdminToken();
  if (token.isNew) say(`Made an admin token for this machine, shown this once: ${token.text}`);
  const worker = await LocalWorker.start({ ...options, adminTokens: token.secret, say, signal });
  try {
    const generation = await ingest(worker, token.text, options.localeCount);
    if (generation === undefined) say(pausedNotice(worker.url, token.file));
    say(welcome(worker, token.file, await untilServedHere(worker, generation ?? 0)));
    await worker.untilEnd();
  } finally {
    await worker.stop();
  }
}

function readOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "8787" },
      locales: { type: "string", default: "default" },
      state: { type: "string", default: ".wrangler/state" },
      fresh: { type: "boolean", default: false },
      var: { type: "string", multiple: true, default: [] },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new StartError(`--port must be a number from 1 to 65535, not "${values.port}"`);
  const { locales, state: stateFolder, fresh } = values;
  const vars = Object.fromEntries(values.var.map(readVar));
  return { port, locales, localeCount: countLocales(locales), stateFolder, fresh, vars };
}

function readVar(text: string): [name: string, value: string] {
  const [, name, value] = /^([A-Z][A-Z_]*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new StartError("--var must be NAME=VALUE, with a name such as ALERT_REPEAT_MS");
  return [name, value];
}

/** Says at once what the Worker would say only after it has started. */
function countLocales(locales: string): number {
  try {
    const { vars } = unstable_readConfig({ config: "wrangler.toml" });
    const settings = { ...vars, LOCALES: locales } as Settings; // loadConfig checks each of them
    return loadConfig(settings, manifest.locales).locales.length;
  } catch (error) {
    if (error instanceof ConfigError)
      throw new StartError(`--locales ${locales}: ${error.message}`);
    throw error;
  }
}

/** How often to look whether the process that started this one is still there. */
const PARENT_POLL_MS = 500;

/** Aborts when the user or the system wants an end, or when npm has gone without saying so. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = () => {
    if (!controller.signal.aborted) say("\nStopping …");
    controller.abort();
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, stop);
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || stop(), PARENT_POLL_MS).unref();
  return controller.signal;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A mistake in the command line, as `parseArgs` reports it. */
function isUsageError(error: unknown): error is Error {
  return (
    error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")
  );
}

const stopping = stopSignal();
try {
  const options = readOptions();
  if (options === undefined) process.stdout.write(HELP);
  else await start(options, stopping);
} catch (error) {
  // What fails after a signal fails because of it.
  if (!stopping.aborted) {
    if (error instanceof StartError) process.stderr.write(`\n${error.message}\n`);
    else if (isUsageError(error)) process.stderr.write(`${error.message}\n\n${HELP}`);
    else throw error;
    process.exitCode = 1;
  }
}
