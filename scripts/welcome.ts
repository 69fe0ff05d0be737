import type { Health } from "./catalog-health.ts";
import type { LocalWorker } from "./local-worker.ts";

/** Why nothing new is published, and how to change that. */
export function pausedNotice(url: string, tokenFile: string): string {
  return `
Ingestion is paused, so that nothing new is published. To resume it, use the dashboard, or:

  curl -H "Authorization: Bearer $(cat ${tokenFile})" --json '{}' ${url}/admin/ingest/resume`;
}

/** What is served, and how to call it. */
export function welcome(
  { url, logFile }: Pick<LocalWorker, "url" | "logFile">,
  tokenFile: string,
  health: Health,
): string {
  const lists = Object.entries(health.counts).map(([list, count]) => `${count} ${list}`);
  const served =
    health.version === undefined
      ? `Nothing is published yet: until then, every call to ${url} fails as unavailable.`
      : `Serving ${lists.join(", ")} at ${url}`;
  const call = `${url}/locations.v1.LocationsService/GetLocationsV1`;
  return `
${served}

  curl --compressed --json '{"locale":"de"}' ${call} | head -c 1000
  npx buf curl --schema proto --protocol grpcweb -d '{"locale":"de"}' ${call} | head -c 1000

Explorer     ${url}/
Dashboard    ${url}/dashboard
Admin token  ${tokenFile}
Health       ${url}/catalog/health
Log          ${logFile}
Stop         Ctrl-C`;
}
