import * as z from "zod";
import { HEALTH_STATUSES } from "../../health/check.ts";
import { timestamp } from "../../catalog/fields.ts";

export const HEALTH_MEDIA_TYPE = "application/health+json";

export const healthStatus = z.enum(HEALTH_STATUSES);

const check = z
  .strictObject({
    status: healthStatus,
    observedValue: z.union([z.number(), z.string(), z.boolean(), z.null()]).optional(),
    observedUnit: z.string().optional(),
    time: timestamp.optional(),
    output: z.string().optional(),
  })
  .meta({ id: "HealthCheck" });

export const checksSchema = z.record(z.string(), z.array(check));
