import type { IngestEnd } from "./ingest-progress.ts";
import type { LocalWorker } from "./local-worker.ts";
import { callUrl, type Served } from "./service-call.ts";

type Failure = Extract<IngestEnd, { ok: false }>;

/** Why nothing new is published, and how to change that. */
export function describeEnd(end: Failure, url: string, tokenFile: string): string {
  const { what, route, body } = advise(end);
  const curl = `curl -H "Authorization: Bearer $(cat ${tokenFile})" --json '${JSON.stringify(body)}'`;
  return `
${end.problem}
${what}, use the dashboard, or:

  ${curl} ${url}/admin/ingest/${route}`;
}

function advise({ reason, approvable }: Failure) {
  if (reason === "paused") return { what: "To resume it", route: "resume", body: {} };
  const served = "What was published before is served.";
  if (approvable === undefined) return { what: `${served} To try again`, route: "queue", body: {} };
  const body = { candidate_of: approvable, force: true };
  return { what: `${served} To publish the change all the same`, route: "queue", body };
}

/** What the service answers, and how to call it. */
export function welcome(
  { url, logFile, wayOut }: Pick<LocalWorker, "url" | "logFile" | "wayOut">,
  tokenFile: string,
  served: Served,
): string {
  return `
${describeServed(url, served, wayOut)}

  curl -s --compressed --json '{"locale":"de"}' ${callUrl(url)} | head -c 1000
  npx buf curl --schema proto --protocol grpcweb -d '{"locale":"de"}' ${callUrl(url)} | head -c 1000

Explorer     ${url}/
Dashboard    ${url}/dashboard
Admin token  ${tokenFile}
Health       ${url}/catalog/health
Log          ${logFile}
Stop         Ctrl-C`;
}

function describeServed(url: string, served: Served, wayOut: string): string {
  if (served.ok) return `Serving ${served.counts} at ${url}`;
  const problem = `Every call to ${url} fails: ${served.problem}`;
  if (served.code === "unavailable") return problem;
  return `${problem}
To publish it anew, queue an ingest in mode full (docs/alerts.md, "integrity_mismatch"), or roll back on the dashboard.
${wayOut}`;
}
