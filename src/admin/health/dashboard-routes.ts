import { gravest } from "../../health/status.ts";
import { describeError, logLine } from "../../log.ts";
import { withDeadline } from "../../storage/deadline.ts";
import { SingleFlight } from "../../storage/single-flight.ts";
import { timeText } from "../../storage/time-text.ts";
import { route } from "../http/route.ts";
import {
  type Found,
  SECTIONS,
  type Summary,
  summarySchema,
  type SummarySources,
} from "./summary-sections.ts";

const SECTION_DEADLINE_MS = 2_000;
/** For this time a summary is reused, so that visitors put no load on the coordinator. */
const MEMO_MS = 5_000;

/**
 * `GET /dashboard/summary`: the state of the service at a glance, for everybody. The answer is 200
 * even if its `status` is `fail`: a dashboard still shows the sections.
 */
export function dashboardRoutes(
  deps: SummarySources & {
    /** Keeps the present request's context alive until a promise settles. */
    readonly waitUntil: (promise: Promise<unknown>) => void;
  },
) {
  const { now } = deps;
  const loads = new SingleFlight<Summary>(deps.waitUntil, now);
  let memo: { readonly summary: Summary; readonly at: number } | undefined;
  async function readSummary(): Promise<Summary> {
    const at = now();
    memo = { at, summary: { at: timeText(at), ...(await readSections(deps)) } };
    return memo.summary;
  }

  const summary = route({
    method: "get",
    path: "/dashboard/summary",
    summary: "The state of the service at a glance, for a dashboard",
    description:
      "Always 200. `status` is `fail` if the catalog cannot be read. It is `warn` if another section cannot be read, while ingestion is paused, for old data, for a run that failed or is stuck, for a backup that is too old or unverified, for an open alert, and if no webhook is configured. A section that cannot be read is null and named in `degraded`.",
    access: "public",
    responses: {
      200: {
        description: "The summary",
        headers: { "Cache-Control": "How long the summary may be reused." },
        body: summarySchema,
      },
    },
  }).answer(async () => {
    const isFresh = memo !== undefined && now() - memo.at < MEMO_MS;
    const body = memo && isFresh ? memo.summary : await loads.load("summary", readSummary);
    return { status: 200, body, headers: { "cache-control": `public, max-age=${MEMO_MS / 1000}` } };
  });
  return [summary];
}

/** Reads all sections; one that cannot be read is null. Never rejects. */
async function readSections(deps: SummarySources): Promise<Omit<Summary, "at">> {
  const found = await Promise.all(
    Object.entries(SECTIONS).map(async ([name, { read, unread }]) => {
      try {
        return { name, ...(await withDeadline<Found>(name, SECTION_DEADLINE_MS, read(deps))) };
      } catch (cause) {
        const fields = { section: name, ...describeError(cause) };
        logLine("warn", "summary_degraded", "a section could not be read", fields);
        return { name, status: unread, shown: null };
      }
    }),
  );
  return {
    status: gravest(found.map(({ status }) => status)),
    degraded: found.filter(({ shown }) => shown === null).map(({ name }) => name),
    // Each of `SECTIONS`, as its schema says, or null.
    ...(Object.fromEntries(found.map(({ name, shown }) => [name, shown])) as unknown as Pick<
      Summary,
      keyof typeof SECTIONS
    >),
  };
}
