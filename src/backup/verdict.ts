/** What verifying a backup comes to. Pure: no clock, no I/O. */
import { z } from "zod";
import { type Fault, FAULT_CODES } from "./fault.ts";

/**
 * `verified`: every byte is as it was written, and the archived upstream bytes give the published
 * catalog again. `intact`: the same, but for the last, which this Worker cannot repeat, since the
 * catalog was built by another snapshot or another version of the code. `failed`: something is
 * damaged. `unverified`: nobody has looked yet.
 */
export const VERDICT_STATES = ["unverified", "verified", "intact", "failed"] as const;
export type VerdictState = (typeof VERDICT_STATES)[number];

/** What is stored as `verdict.json`. */
export interface Verdict {
  readonly state: Exclude<VerdictState, "unverified">;
  /** RFC 3339. */
  readonly at: string;
  readonly code:
    | Fault["code"]
    | "rebuilt"
    | "nothing_published"
    | "other_snapshot"
    | "other_code"
    | "upstream_missing";
  readonly message: string;
  readonly worker_version: string | null;
}

const schema = z.object({
  state: z.enum(["verified", "intact", "failed"]),
  at: z.iso.datetime({ precision: 3 }),
  code: z.enum([
    ...FAULT_CODES,
    "rebuilt",
    "nothing_published",
    "other_snapshot",
    "other_code",
    "upstream_missing",
  ]),
  message: z.string(),
  worker_version: z.string().nullable(),
});

/** Whether a backup of this verdict can be restored byte for byte. */
export function isGood(state: VerdictState): boolean {
  return state === "verified" || state === "intact";
}

/** Reads a `verdict.json`; null if there is none, or it is no verdict. */
export function parseVerdict(text: string | null): Verdict | null {
  try {
    const parsed = schema.safeParse(text === null ? null : JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** What building the catalog of a backup anew came to. */
export interface Rebuild {
  /** Hash of the catalog that was published. */
  readonly published: string;
  /** Hash of the one built now; null if the upstream bytes could not be read. */
  readonly rebuilt: string | null;
  /** Hash of the snapshot that it was built with, and of this Worker's own. */
  readonly snapshot: { readonly used: string | undefined; readonly present: string };
  /** Version of the Worker that built it, and of this one; null where that is not known. */
  readonly worker: { readonly used: string | null; readonly present: string | null };
}

/**
 * Judges a catalog that was built anew, of a backup whose every byte has been hashed and found
 * right. Bytes that are right cannot be the reason for another catalog: only what builds can be.
 * Where that is known to be the same, the published catalog was never built from these bytes.
 */
export function judgeRebuild({
  published,
  rebuilt,
  snapshot,
  worker,
}: Rebuild): Pick<Verdict, "state" | "code" | "message"> {
  if (rebuilt === published)
    return {
      state: "verified",
      code: "rebuilt",
      message: "Every byte is right, and the archived upstream bytes give the published catalog.",
    };
  const intact = "Every byte is right. The catalog cannot be built anew by this Worker:";
  if (snapshot.used !== snapshot.present)
    return {
      state: "intact",
      code: "other_snapshot",
      message: `${intact} it was built with another snapshot.`,
    };
  if (worker.used === null || worker.used !== worker.present)
    return {
      state: "intact",
      code: "other_code",
      message: `${intact} it was built by another version of the code.`,
    };
  return {
    state: "failed",
    code: "rebuild_mismatch",
    message: `The archived upstream bytes give the catalog ${rebuilt ?? "(none)"} instead of ${published}, by the same code and snapshot.`,
  };
}
