import { z } from "zod";
import { describeError, logLine } from "../log.ts";
import { withDeadline } from "../storage/deadline.ts";
import { type Immutable, route } from "./route.ts";
import { timestamp } from "./run-schema.ts";

/** A part of the summary, which may fail without the others. It names no operator and no reason. */
export interface SummarySection<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  /** Rejects if it cannot be read. */
  readonly read: () => Promise<Immutable<z.output<Schema>>>;
}

export function summarySection<Schema extends z.ZodType>(
  schema: Schema,
  read: SummarySection<Schema>["read"],
): SummarySection<Schema> {
  return { schema, read };
}

type Sections = { readonly [name: string]: SummarySection };

const SECTION_DEADLINE_MS = 2_000;
/** How long a summary is given again, so that visitors do not reach the coordinator. */
const MEMO_MS = 5_000;

/** `GET /dashboard/summary`: what a dashboard shows at a glance, to everybody. */
export function dashboardRoutes<S extends Sections>(sections: S, now: () => number) {
  const names = Object.keys(sections);
  const shapes = Object.fromEntries(
    Object.entries(sections).map(([name, { schema }]) => [name, schema.nullable()]),
  ) as { [Name in keyof S & string]: z.ZodNullable<S[Name]["schema"]> }; // what the line above makes
  const summarySchema = z
    .strictObject({
      at: timestamp,
      degraded: z.array(z.enum(names)).meta({ description: "Sections that could not be read." }),
      ...shapes,
    })
    .meta({ id: "DashboardSummary" });
  type Summary = Immutable<z.output<typeof summarySchema>>;

  let memo: { readonly summary: Summary; readonly at: number } | undefined;
  const summary = route({
    method: "get",
    path: "/dashboard/summary",
    summary: "Health of the dashboard: what it shows at a glance",
    access: "public",
    responses: { 200: { description: "The summary", body: summarySchema } },
  }).answer(async () => {
    if (memo === undefined || now() - memo.at >= MEMO_MS) {
      const at = now();
      const read = await readSections(sections);
      // Each section is what its own schema says, or null.
      memo = { at, summary: { at: new Date(at).toISOString(), ...read } as unknown as Summary };
    }
    const headers = { "cache-control": `public, max-age=${MEMO_MS / 1000}` };
    return { status: 200, body: memo.summary, headers };
  });
  return [summary];
}

async function readSections(sections: Sections) {
  const read = await Promise.all(
    Object.entries(sections).map(async ([name, section]): Promise<[string, unknown]> => {
      try {
        return [name, await withDeadline(name, SECTION_DEADLINE_MS, section.read())];
      } catch (cause) {
        const fields = { section: name, ...describeError(cause) };
        logLine("warn", "summary_degraded", "a section could not be read", fields);
        return [name, null];
      }
    }),
  );
  const degraded = read.filter(([, value]) => value === null).map(([name]) => name);
  return { degraded, ...Object.fromEntries(read) };
}
