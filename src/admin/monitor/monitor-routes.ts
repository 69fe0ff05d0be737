import * as z from "zod";
import { timestamp } from "../../schemas/fields.ts";
import {
  answersSchema,
  checksSchema,
  HEALTH_MEDIA_TYPE,
  healthStatus,
  outputOf,
  worstOf,
} from "../../schemas/check.ts";
import { timeText } from "../../platform/time.ts";
import { route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";
import { answerQuestions } from "./answers.ts";
import { observe } from "./observation.ts";

const statusSchema = z
  .strictObject({
    status: healthStatus,
    output: z.string().optional().meta({ description: "Every problem, in one line." }),
    worker_version: z.string(),
    at: timestamp,
    answers: answersSchema,
    checks: checksSchema.meta({
      description: "`rule:…` are the findings of the last evaluation of the alerts, with its time.",
    }),
  })
  .meta({ id: "MonitorStatus", description: "Every check of the service." });

export function monitorRoutes(platform: AdminPlatform) {
  const { jobs, version } = platform;

  const status = route({
    method: "get",
    path: "/admin/monitor/status",
    operationId: "getMonitorStatus",
    summary: "Monitor status",
    description:
      "Every check: stores, catalog, coordinator and monitor live, and the findings of the last evaluation of the alerts. It fails also while the rules have not been evaluated in time. 503 if the status is `fail`, otherwise 200.",
    access: "read",
    responses: {
      200: {
        description: "The status is `pass` or `warn`",
        body: statusSchema,
        mediaType: HEALTH_MEDIA_TYPE,
      },
      503: {
        description: "The status is `fail`",
        body: statusSchema,
        mediaType: HEALTH_MEDIA_TYPE,
      },
    },
  }).answer(async () => {
    const observation = await observe(platform, { isPublic: false });
    const { at, checks } = observation;
    const worst = worstOf(checks);
    const output = outputOf(checks);
    return {
      status: worst === "fail" ? 503 : 200,
      body: {
        status: worst,
        ...(output !== undefined && { output }),
        worker_version: version,
        at: timeText(at),
        answers: answerQuestions(observation, { jobs, isPublic: false }),
        checks: { ...checks },
      },
    };
  });
  return [status];
}
