import { timeText } from "../../storage/time-text.ts";
import { z } from "zod";
import { type Check, type Checks, outputOf, worstOf } from "../../health/status.ts";
import { describeError, logLine } from "../../log.ts";
import { StoreTimeout, withDeadline } from "../../storage/deadline.ts";
import { checksSchema, HEALTH_MEDIA_TYPE, healthStatus } from "./health-schema.ts";
import { route } from "../http/route.ts";
import { timestamp } from "../../catalog/fields.ts";

/** A check of one component. */
export interface MonitorCheck {
  /** The component, such as `kv`. */
  readonly name: string;
  readonly deadlineMs: number;
  /** The finding if there is no answer in time; `fail` by default. */
  readonly late?: Check;
  /** Rejects if the component does not answer. */
  readonly read: () => Promise<Checks>;
}

const statusSchema = z
  .strictObject({
    status: healthStatus,
    output: z.string().optional().meta({ description: "Every problem, in one line." }),
    worker_version: z.string(),
    at: timestamp,
    checks: checksSchema,
  })
  .meta({ id: "MonitorStatus" });

/** `GET /admin/monitor/status`: runs every check within its deadline. */
export function monitorRoutes(
  checks: readonly MonitorCheck[],
  { version, now }: { readonly version: string; readonly now: () => number },
) {
  const status = route({
    method: "get",
    path: "/admin/monitor/status",
    summary: "Monitor status",
    description:
      "Every check: stores, coordinator, recent runs, pause, queue and cron ticks. Its limits are those of the alerts. A warning leaves the answer at 200.",
    access: "read",
    responses: {
      200: { description: "Nothing fails", body: statusSchema, mediaType: HEALTH_MEDIA_TYPE },
      503: { description: "Something fails", body: statusSchema, mediaType: HEALTH_MEDIA_TYPE },
    },
  }).answer(async ({ requestId }) => {
    const read = checks.map((check) => readCheck(check, { requestId, now }));
    const found: Checks = Object.assign({}, ...(await Promise.all(read)));
    const worst = worstOf(found);
    const output = outputOf(found);
    return {
      status: worst === "fail" ? 503 : 200,
      body: {
        status: worst,
        ...(output !== undefined && { output }),
        worker_version: version,
        at: timeText(now()),
        checks: { ...found },
      },
    };
  });
  return [status];
}

/** Runs a check, and measures how long it takes. Never rejects. */
async function readCheck(
  { name, deadlineMs, late, read }: MonitorCheck,
  { requestId, now }: { readonly requestId: string; readonly now: () => number },
): Promise<Checks> {
  const began = now();
  const time = `${name}:responseTime` as const;
  try {
    const found = await withDeadline(name, deadlineMs, read());
    const took: Check = { status: "pass", observedValue: now() - began, observedUnit: "ms" };
    return { [time]: [took], ...found };
  } catch (error) {
    const fields = { request_id: requestId, check: name, ...describeError(error) };
    logLine("warn", "check_failed", "a component did not answer its check", fields);
    const isLate = error instanceof StoreTimeout;
    const output = isLate ? `no answer within ${deadlineMs} ms` : "it does not answer";
    return { [time]: [(isLate ? late : undefined) ?? { status: "fail", output }] };
  }
}
