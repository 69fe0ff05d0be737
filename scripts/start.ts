/** `npm start`: the whole service on this machine, with a published catalog. */
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { localAdminToken } from "./local-admin-token.ts";
import { ingest, publishedCounts } from "./local-ingest.ts";
import { LocalWorker, StartError } from "./local-worker.ts";

const HELP = `Usage: npm start -- [options]

Starts the service on this machine and publishes the embedded snapshot. Needs no account and no
network. Ctrl-C stops everything.

  --port N          port to listen on (default 8787)
  --locales LIST    locales to publish: "default", "all" or a list such as en,de,pt-PT
  --fresh           forget what earlier starts stored, and begin anew
  --help            this text
`;

const STATE_FOLDER = ".wrangler/state";

interface Options {
  readonly port: number;
  readonly locales: string;
  readonly fresh: boolean;
}

async function start({ port, locales, fresh }: Options): Promise<void> {
  if (fresh) rmSync(STATE_FOLDER, { recursive: true, force: true });
  const token = localAdminToken();
  const options = { port, locales, stateFolder: STATE_FOLDER, adminTokens: token.secret, say };
  const worker = await LocalWorker.start(options);
  stopOnSignals(worker);
  try {
    await ingest(worker, token.text);
    say(welcome(worker.url, token.file, await publishedCounts(worker.url)));
    await worker.ended;
  } finally {
    await worker.stop();
  }
}

function readOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "8787" },
      locales: { type: "string", default: "default" },
      fresh: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new StartError(`--port must be a number from 1 to 65535, not "${values.port}"`);
  return { port, locales: values.locales, fresh: values.fresh };
}

function stopOnSignals(worker: LocalWorker): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => {
      say("\nStopping …");
      void worker.stop().then(() => process.exit(0));
    });
}

function welcome(url: string, tokenFile: string, counts: { readonly [list: string]: number }) {
  const lists = Object.entries(counts).map(([list, count]) => `${count} ${list}`);
  const call = `${url}/locations.v1.LocationsService/GetLocationsV1`;
  return `
Serving ${lists.join(", ")} at ${url}

  curl --compressed --json '{"locale":"de"}' ${call}
  npx buf curl --schema proto --protocol grpcweb -d '{"locale":"de"}' ${call}

Admin token  ${tokenFile}
Health       ${url}/catalog/health
Stop         Ctrl-C`;
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

try {
  const options = readOptions();
  if (options === undefined) process.stdout.write(HELP);
  else await start(options);
} catch (error) {
  if (error instanceof StartError) process.stderr.write(`\n${error.message}\n`);
  else if (isUsageError(error)) process.stderr.write(`${error.message}\n\n${HELP}`);
  else throw error;
  process.exitCode = 1;
}
