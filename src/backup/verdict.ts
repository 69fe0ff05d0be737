/** The verdict of a verification. Pure: no clock, no I/O. */
import * as z from "zod";
import { timestamp } from "../schemas/fields.ts";
import { parseJson } from "../platform/parse-json.ts";

/**
 * - `verified`: every byte is intact, and the archived upstream files rebuild the published
 *   catalog.
 * - `intact`: every byte is intact, but this Worker cannot rebuild the catalog: its snapshot or
 *   code differs, or upstream files are missing.
 * - `failed`: the backup is damaged.
 * - `unverified`: no verification has finished.
 */
export const VERDICT_STATES = ["unverified", "verified", "intact", "failed"] as const;
export type VerdictState = (typeof VERDICT_STATES)[number];

/** The content of `verdict.json`. */
const schema = z.object({
  state: z.enum(["verified", "intact", "failed"]),
  at: timestamp,
  message: z.string(),
});
export type Verdict = Readonly<z.output<typeof schema>>;
/** A verdict, without its time. */
export type Judgement = Omit<Verdict, "at">;

/** Whether a backup with this verdict can be restored byte for byte. */
export function isGood(state: VerdictState): boolean {
  return state === "verified" || state === "intact";
}

/** Parses a `verdict.json`; null if it is missing or invalid. */
export function parseVerdict(text: string | null): Verdict | null {
  return schema.safeParse(parseJson(text ?? "")).data ?? null;
}

/** Result of rebuilding the catalog of a backup. */
interface Rebuild {
  /** Hash of the published catalog. */
  readonly published: string;
  /** Hash of the rebuilt catalog; null if upstream's files could not be read. */
  readonly rebuilt: string | null;
  /** Hashes of the snapshot of the published catalog and of this Worker's. */
  readonly snapshot: { readonly used: string | undefined; readonly present: string };
  /** Versions of the Worker that built the published catalog and of this one; null if unknown. */
  readonly worker: { readonly used: string | null; readonly present: string | null };
}

/**
 * Judges the rebuilt catalog of a backup whose bytes are all intact. Another catalog then comes
 * from another snapshot or other code. If both are the same, the published catalog was not built
 * from these files.
 */
export function judgeRebuild({ published, rebuilt, snapshot, worker }: Rebuild): Judgement {
  if (rebuilt === published)
    return {
      state: "verified",
      message:
        "Every byte is intact, and the archived upstream files rebuild the published catalog.",
    };
  const intact = "Every byte is intact. This Worker cannot rebuild the catalog:";
  if (snapshot.used !== snapshot.present)
    return {
      state: "intact",
      message: `${intact} the published one was built with another snapshot.`,
    };
  if (worker.used === null || worker.used !== worker.present)
    return {
      state: "intact",
      message: `${intact} the published one was built by another version of the code.`,
    };
  return {
    state: "failed",
    message: `With the same code and snapshot, the archived upstream files give the catalog ${rebuilt ?? "(none)"} instead of ${published}.`,
  };
}
