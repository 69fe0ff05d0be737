/** The pause of ingestion. Pure: no clock, no I/O. */
import * as z from "zod";
import type { EpochMs, Instant } from "../platform/units.ts";
import { deadline, type DeepReadonly, timestamp } from "./fields.ts";

/** The schema of a pause in answers: the status and the OpenAPI document follow from it. */
export const pauseSchema = z.strictObject({
  at: timestamp,
  by: z.string(),
  note: z.string().nullable(),
  until: deadline.nullable().meta({ description: "Null if only an operator ends it." }),
});

/** Holds ingest runs until an operator or `until` lifts it. */
export type Pause = DeepReadonly<z.output<typeof pauseSchema>>;

export interface PauseRequest {
  readonly by: string;
  readonly note: string | null;
  /** Null if only an operator lifts the pause. If omitted, the end stays as it is. */
  readonly until?: Instant | null;
}

/** Applies a pause request. The start of a present pause stays, and so do its note and end if omitted. */
export function decidePause(
  present: Pause | null,
  request: PauseRequest,
  at: Instant,
): { readonly pause: Pause; readonly changed: boolean } {
  const note = request.note ?? present?.note ?? null;
  const until = request.until === undefined ? (present?.until ?? null) : request.until;
  const { by } = request;
  if (present === null) return { pause: { at, by, note, until }, changed: true };
  if (present.note === note && present.until === until) return { pause: present, changed: false };
  return { pause: { ...present, by, note, until }, changed: true };
}

export function hasEnded(pause: Pause, now: EpochMs): boolean {
  return pause.until !== null && Date.parse(pause.until) <= now;
}
