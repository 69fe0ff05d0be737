import type { IngestEnd } from "./ingest-progress.ts";
import type { LocalWorker } from "./local-worker.ts";
import { callUrl, type Served } from "./service-call.ts";

type Failure = Extract<IngestEnd, { ok: false }>;
type Unserved = Extract<Served, { ok: false }>;

interface Circumstances {
  readonly url: string;
  readonly tokenFile: string;
  readonly served: Served;
}

/** Why nothing new is published, and how to change that. */
export function describeEnd(end: Failure, { url, tokenFile, served }: Circumstances): string {
  const { what, route, body } = advise(end, served.ok);
  const curl = `curl -H "Authorization: Bearer $(cat ${tokenFile})" --json '${JSON.stringify(body)}'`;
  return `
${end.problem}
${what}, use the dashboard, or:

  ${curl} ${url}/admin/${route}`;
}

function advise({ reason, approvable, isForeign }: Failure, isServed: boolean) {
  if (reason === "paused") return { what: "To resume it", route: "ingest/resume", body: {} };
  const before = isServed ? "What was published before is served. " : "";
  if (isForeign === true) {
    const what = `${before}To take over, if no other installation uses these stores (docs/alerts.md, "foreign_stores")`;
    return { what, route: "catalog/take-over", body: {} };
  }
  if (approvable === undefined)
    return { what: `${before}To try again`, route: "ingest/queue", body: {} };
  const body = { candidate_of: approvable, force: true };
  return { what: `${before}To publish the change anyway`, route: "ingest/queue", body };
}

/** The served catalog, and how to call it. */
export function welcome(
  { url, logFile, wayOut }: Pick<LocalWorker, "url" | "logFile" | "wayOut">,
  tokenFile: string,
  served: Served,
): string {
  return `
${describeServed(url, served, wayOut)}

  curl -s --compressed --json '{"locale":"de"}' ${callUrl(url)} | head -c 1000
  npx @bufbuild/buf curl --schema ${url}/locations.binpb --protocol grpcweb -d '{"locale":"de"}' ${callUrl(url)} | head -c 1000
  npm install ${url}/client.tgz

Explorer     ${url}/
Dashboard    ${url}/dashboard
Admin token  ${tokenFile}
Health       ${url}/catalog/health
Log          ${logFile}
Stop         Ctrl-C`;
}

function describeServed(url: string, served: Served, wayOut: string): string {
  if (served.ok) return `Serving ${served.counts} at ${url}`;
  return `Every call to ${url} fails: ${served.problem}
The dashboard says what to do, such as to restore the newest backup.
${wayOut}`;
}

/** The service's message if the stores answer and have no catalog. */
const NO_CATALOG = "no catalog is available";

/** Whether there is no catalog, and only a restore of a backup will bring one. */
export function needsBackup({ reason }: Failure, { code, problem }: Unserved): boolean {
  return reason !== "paused" && code === "unavailable" && problem.endsWith(NO_CATALOG);
}
