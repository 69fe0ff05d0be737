import { timeText } from "../../storage/time-text.ts";
import { z } from "zod";
import { gravest, type HealthStatus } from "../../health/status.ts";
import { describeError, logLine } from "../../log.ts";
import { withDeadline } from "../../storage/deadline.ts";
import { SingleFlight } from "../../storage/single-flight.ts";
import { healthStatus } from "./health-schema.ts";
import { route } from "../http/route.ts";
import { type DeepReadonly, timestamp } from "../../catalog/fields.ts";

/** A part of the public summary, which may fail alone. It names no operator and no reason. */
interface SummarySection<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  /** Rejects if it cannot be read. */
  readonly read: () => Promise<Found<Schema>>;
  /** The status of a section that cannot be read. */
  readonly unread: "warn" | "fail";
}

interface Found<Schema extends z.ZodType = z.ZodType> {
  readonly status: HealthStatus;
  readonly shown: DeepReadonly<z.output<Schema>>;
}

export function summarySection<Schema extends z.ZodType>(
  section: SummarySection<Schema>,
): SummarySection<Schema> {
  return section;
}

type Sections = { readonly [name: string]: SummarySection };

const SECTION_DEADLINE_MS = 2_000;
/** For this time a summary is reused, so that visitors put no load on the coordinator. */
const MEMO_MS = 5_000;

/**
 * `GET /dashboard/summary`: the state of the service at a glance, for everybody. The answer is 200
 * even if its `status` is `fail`: a dashboard still shows the sections.
 */
export function dashboardRoutes(
  sections: Sections,
  deps: {
    readonly now: () => number;
    /** Keeps the present request's context alive until a promise settles. */
    readonly waitUntil: (promise: Promise<unknown>) => void;
  },
) {
  const { now } = deps;
  const names = Object.keys(sections);
  const shapes = Object.fromEntries(
    Object.entries(sections).map(([name, { schema }]) => [name, schema.nullable()]),
  );
  const summarySchema = z
    .strictObject({
      status: healthStatus.meta({ description: "The gravest status of all sections." }),
      at: timestamp,
      degraded: z.array(z.enum(names)).meta({ description: "Sections that could not be read." }),
      ...shapes,
    })
    .meta({ id: "DashboardSummary" });
  type Summary = DeepReadonly<z.output<typeof summarySchema>>;

  const loads = new SingleFlight<Summary>(deps.waitUntil, now);
  let memo: { readonly summary: Summary; readonly at: number } | undefined;
  async function readSummary(): Promise<Summary> {
    const at = now();
    const read = await readSections(sections);
    // Each section matches its schema, or is null.
    const summary = { at: timeText(at), ...read } as unknown as Summary;
    memo = { at, summary };
    return summary;
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
async function readSections(sections: Sections) {
  const read = await Promise.all(
    Object.entries(sections).map(async ([name, section]) => {
      try {
        return { name, ...(await withDeadline(name, SECTION_DEADLINE_MS, section.read())) };
      } catch (cause) {
        const fields = { section: name, ...describeError(cause) };
        logLine("warn", "summary_degraded", "a section could not be read", fields);
        return { name, status: section.unread, shown: null };
      }
    }),
  );
  return {
    status: gravest(read.map(({ status }) => status)),
    degraded: read.filter(({ shown }) => shown === null).map(({ name }) => name),
    ...Object.fromEntries(read.map(({ name, shown }) => [name, shown])),
  };
}
