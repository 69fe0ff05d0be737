/** The verdict of a verification. Pure: no clock, no I/O. */
import * as z from "zod";
import { timestamp } from "../schemas/fields.ts";
import { parseJson } from "../platform/parse-json.ts";

const schema = z.object({
  // An earlier Worker wrote `intact` of a whole backup that it could not rebuild from upstream's files.
  state: z.preprocess(
    (state) => (state === "intact" ? "verified" : state),
    z.enum(["verified", "failed"]),
  ),
  at: timestamp,
  message: z.string(),
});
export type Verdict = Readonly<z.output<typeof schema>>;

/** Parses a `verdict.json`; null if it is missing or invalid. */
export function parseVerdict(text: string | null): Verdict | null {
  return schema.safeParse(parseJson(text ?? "")).data ?? null;
}
