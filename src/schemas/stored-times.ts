/** Finds the times in a stored value by its schema. Pure. */
import * as z from "zod";
import type { Time } from "../platform/time.ts";
import type { DurationMs } from "../platform/units.ts";

/** Stored times, with how far in the future each may be. A time without an entry may have any value. */
export const storedTimes = z.registry<{ readonly toleranceMs: DurationMs }>();

type Change = (time: Time, toleranceMs: DurationMs) => Time;

/** Changes each time of `storedTimes` in a value of a schema. */
export function changeTimes<T>(schema: z.core.$ZodType, value: T, change: Change): T {
  return changed(schema, value, change) as T; // the same but for its times
}

type Described = z.core.$ZodType & { readonly def: z.core.$ZodTypes["_zod"]["def"] };

function changed(schema: z.core.$ZodType | undefined, value: unknown, change: Change): unknown {
  if (schema === undefined || value === null) return value;
  const { toleranceMs } = storedTimes.get(schema) ?? {};
  if (toleranceMs !== undefined) return change(value as Time, toleranceMs); // all of these are times
  const { def } = schema as Described; // as every schema but those of zod/mini
  if ("innerType" in def) return changed(def.innerType, value, change);
  if (def.type === "union")
    return changed(
      def.options.find((option) => z.safeParse(option, value).success),
      value,
      change,
    );
  if (Array.isArray(value))
    return def.type === "array" ? value.map((item) => changed(def.element, item, change)) : value;
  if (typeof value !== "object") return value;
  const fields = Object.entries(value).map(([name, field]) => {
    const ofField = def.type === "record" ? def.valueType : undefined;
    const inShape = def.type === "object" ? def.shape[name] : ofField;
    return [name, changed(inShape, field, change)];
  });
  return Object.fromEntries(fields);
}
