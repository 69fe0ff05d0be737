/** `npm start`: the whole service on this machine, with a published catalog. */
import { parseArgs } from "node:util";
import { Cron } from "croner";
import manifest from "../data/snapshot/manifest.json" with { type: "json" };
import { CRON_JOBS, WATCH_CRON } from "../src/coordinator/schedule.ts";
import { checkSettings } from "../src/monitor/settings.ts";
import { CommandError, runCommand, say, sayOverProgress, sentences } from "./command.ts";
import { type IngestEnd, shows } from "./ingest-progress.ts";
import { joinTokens, localAdminToken } from "./local-admin-token.ts";
import { LOCAL_SETTINGS } from "./local-settings.ts";
import { LocalWorker } from "./local-worker.ts";
import { followLog, jsonLine, readableLine } from "./readable-log.ts";
import { adminCaller, callCatalog, hasBackup, type Served, untilServed } from "./service-call.ts";
import { DEFAULT_STATE_FOLDER } from "./state-folder.ts";
import { describeEnd, needsBackup, welcome } from "./welcome.ts";

const HELP = `Usage: npm start -- [options]

Starts the service on this machine and publishes the embedded snapshot. Needs no account and no
network. Ctrl-C stops everything.

  --port N          port to listen on (default 8787)
  --locales LIST    locales to publish: "all" (default) or a list such as en,de,pt
  --state FOLDER    where to store it all (default .wrangler/state)
  --fresh           delete what earlier starts stored there, also backups, and start afresh
  --var NAME=VALUE  a setting (docs/deploying.md) or a secret; may be given several times
  --json            the Worker's log as JSON lines on standard output, and all else on standard error
  --quiet           no lines about runs, backups and alerts; the log has them in any case
  --help            this text

Writes the Worker's log as JSON lines to worker.log in the folder, and to standard output a line for
each start and end of a run or a backup, and for each change of an alert. For a pipe, let npm
itself say nothing:  npm -s start -- --json | jq .event

Restarts the Worker when one of its files changes, and runs the former one while the change is faulty.
`;

interface Options {
  readonly port: number;
  /** As given: a list, or a word for one. */
  readonly locales: string;
  readonly stateFolder: string;
  readonly fresh: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
  /** Settings by name, instead of those in wrangler.toml. */
  readonly vars: { readonly [name: string]: string };
  /** Value of the secret ADMIN_TOKENS: tokens besides this machine's. */
  readonly otherTokens: string;
}

const POLL_MS = 100;
/** Longest time of an ingest without progress, with and without an earlier catalog to serve. */
const PATIENCE_MS = { published: 120_000, unpublished: 600_000 };
/** Longest time until a published catalog is served. */
const SERVED_DEADLINE_MS = 60_000;

async function start(options: Options, signal: AbortSignal): Promise<void> {
  const token = localAdminToken();
  if (token.isNew) say(`Made an admin token for this machine, in ${token.file}: ${token.text}`);
  const adminTokens = joinTokens(token.secret, options.otherTokens);
  const follow = (logFile: string) => showLog(logFile, options);
  const worker = await LocalWorker.start({ ...options, adminTokens, say, follow, signal });
  try {
    const before = await callCatalog(worker.url, signal);
    const patienceMs = before.ok ? PATIENCE_MS.published : PATIENCE_MS.unpublished;
    const end = await worker.ingest(token.text, { patienceMs, signal, out: sentences.stream });
    const served = await callAfter(end, worker, signal);
    if (!end.ok && !served.ok && needsBackup(end, served)) {
      // It can be restored only while the service runs.
      const isThere = await hasBackup(adminCaller(worker.url, token.text, signal));
      if (!isThere)
        throw new CommandError(
          `${end.problem}\nNothing can be served: ${served.problem}\nTo try again: npm start\n${worker.wayOut}`,
        );
    }
    if (!end.ok) say(describeEnd(end, { url: worker.url, tokenFile: token.file, served }));
    await worker.fire(WATCH_CRON);
    say(welcome(worker, token.file, served));
    await untilEnd(worker);
  } finally {
    await worker.stop();
  }
}

/** Follows the log. Returns a function that stops. */
function showLog(logFile: string, { json, quiet }: Options): () => void {
  if (quiet) return () => {};
  if (!json) return followLog(logFile, readableLine, sayOverProgress);
  return followLog(logFile, jsonLine, (line) => process.stdout.write(`${line}\n`));
}

/** Fires the cron triggers at their times until the Worker has ended. */
async function untilEnd(worker: LocalWorker): Promise<void> {
  const triggers = Object.keys(CRON_JOBS).map(
    (cron) => new Cron(cron, { timezone: "UTC" }, () => worker.fire(cron)),
  );
  try {
    await worker.untilEnd();
  } finally {
    for (const trigger of triggers) trigger.stop();
  }
}

/** The service's answer after it has had time to load the result of an ingest. */
function callAfter(end: IngestEnd, { url }: LocalWorker, signal: AbortSignal): Promise<Served> {
  return untilServed(url, (served) => shows(served, end), {
    pollMs: POLL_MS,
    deadlineMs: SERVED_DEADLINE_MS,
    signal,
  });
}

function readOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "8787" },
      locales: { type: "string", default: "all" },
      state: { type: "string", default: DEFAULT_STATE_FOLDER },
      fresh: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      quiet: { type: "boolean", default: false },
      var: { type: "string", multiple: true, default: [] },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new CommandError(`--port must be a number from 1 to 65535, not "${values.port}"`);
  const { locales, state: stateFolder, fresh, json, quiet } = values;
  const given = Object.fromEntries(values.var.map(readVar));
  const settings = { ...LOCAL_SETTINGS, LOCALES: locales, ...given };
  // Finds at once the faults that the Worker would only find after its start.
  const problems = checkSettings(settings, manifest.locales);
  if (problems.length > 0)
    throw new CommandError(
      `--locales or --var: ${problems.join("\n--locales or --var: ")}\nAll settings: docs/deploying.md and docs/alerts.md`,
    );
  const { ADMIN_TOKENS: otherTokens = "[]", ...vars } = given;
  if (json) sentences.stream = process.stderr;
  return { port, locales, stateFolder, fresh, json, quiet, vars, otherTokens };
}

function readVar(text: string): [name: string, value: string] {
  const [, name, value] = /^([A-Z][A-Z_]*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new CommandError("--var must be NAME=VALUE, with a name such as ALERT_REPEAT_MS");
  return [name, value];
}

await runCommand(HELP, async (signal) => {
  const options = readOptions();
  if (options === undefined) process.stdout.write(HELP);
  else await start(options, signal);
});
