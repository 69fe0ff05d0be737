import { type CatalogStore } from "../storage/catalog-store.ts";
import { ForeignStores } from "../storage/ownership.ts";
import type { CoordinatorPlatform } from "./coordinator-platform.ts";
import {
  adoptVersions,
  findVersions,
  logUnusable,
  type NotShown,
  recordVersion,
} from "./publishing.ts";
import type { CoordinatorState } from "./state.ts";
import type { Version } from "../schemas/version.ts";
import type { Instant } from "../platform/units.ts";
import { describeVersion } from "./versions.ts";

export interface TakenOver {
  readonly changed: boolean;
  /** The published version; null if the stores have none. */
  readonly version: Version | null;
  readonly paused: boolean;
  /** The problems of the versions that were not adopted. */
  readonly unusable: readonly string[];
}

export type TakeoverResult =
  | ({ readonly ok: true } & TakenOver)
  /**
   * `foreign_stores`: a newer Worker has written the manifest, or its owner publishes at the same
   * moment. `nothing_adopted`: this installation owns the stores now, but no version in them can be
   * used.
   */
  | {
      readonly ok: false;
      readonly reason: "foreign_stores" | "nothing_adopted";
      readonly detail: string;
    }
  | NotShown<TakenOver>;

/**
 * Takes over the stores of another installation. Adopts the versions there and publishes the newest one
 * again: the generation rises, and a conditional write by the other installation fails because the
 * manifest has changed. Pauses ingestion without an end, because nobody knows whether it was paused
 * before. If this installation owns the stores already and has no version, it only adopts the versions
 * there.
 *
 * @param at publication time.
 * @param by the operator.
 * @throws StoreError if a store fails.
 */
export async function takeOver(
  { state, store, log }: Pick<CoordinatorPlatform, "state" | "store" | "log">,
  { at, by }: { readonly at: Instant; readonly by: string },
): Promise<TakeoverResult> {
  const foreign = await findForeign(store);
  if (foreign === null) {
    const unusable = await adoptVersions(state, store);
    logUnusable(log, unusable);
    return describeTakeover(state, false, unusable);
  }
  const { etag } = foreign;
  if (etag === null) return { ok: false, reason: "foreign_stores", detail: foreign.message };
  const { versions, highest, unusable } = await findVersions(store);
  logUnusable(log, unusable);
  const newest = versions.at(-1);
  state.transaction(() => {
    state.takeOver(versions, etag);
    state.values.set("highest", highest);
    if (newest !== undefined) recordVersion(state, newest, { at });
    state.pauseWithoutEnd({ at, by, note: PAUSE_OF_TAKEOVER, until: null });
  });
  return describeTakeover(state, true, unusable);
}

const PAUSE_OF_TAKEOVER =
  "the stores were taken over; a pause and a queue from before are lost: see the audit, then resume";

async function findForeign(store: CatalogStore): Promise<ForeignStores | null> {
  try {
    await store.checkOwner();
    return null;
  } catch (cause) {
    if (cause instanceof ForeignStores) return cause;
    throw cause;
  }
}

function describeTakeover(
  state: CoordinatorState,
  changed: boolean,
  unusable: readonly string[],
): TakeoverResult {
  const versions = state.versions();
  const [current] = versions;
  const [problem] = unusable;
  if (current === undefined && problem !== undefined)
    return {
      ok: false,
      reason: "nothing_adopted",
      detail: `The stores are this installation's, but no version in them can be used (${problem}). Restore a backup; without one, queue a run with mode full, and resume.`,
    };
  const version = current === undefined ? null : describeVersion(current, versions);
  return { ok: true, changed, version, paused: state.pause() !== null, unusable };
}
