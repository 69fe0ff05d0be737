import { type CatalogStore } from "../storage/catalog-store.ts";
import { ForeignStores } from "../storage/ownership.ts";
import { findVersions, recordVersion } from "./publishing.ts";
import type { CoordinatorState } from "./state.ts";
import type { Version } from "../schemas/version.ts";
import type { Instant } from "../platform/units.ts";
import { describeVersion } from "./versions.ts";

export type TakeoverResult =
  /** `version` is published now; null if the stores have none. */
  | {
      readonly ok: true;
      readonly changed: boolean;
      readonly version: Version | null;
      readonly paused: boolean;
    }
  /** A newer Worker has written the manifest, or its owner publishes at the same moment. */
  | { readonly ok: false; readonly reason: "foreign_stores"; readonly detail: string };

/**
 * Makes the stores of another installation this one's own. Adopts the versions there and publishes the
 * newest of them again: the generation rises, and a conditional write by the other installation finds
 * that the manifest has changed. Ingestion is paused without an end, because nobody knows
 * whether it was before. Does nothing if the stores are its own already.
 *
 * @param at publication time.
 * @param by the operator.
 * @throws StoreError if a store fails.
 */
export async function takeOver(
  state: CoordinatorState,
  store: CatalogStore,
  { at, by }: { readonly at: Instant; readonly by: string },
): Promise<TakeoverResult> {
  const foreign = await findForeign(store);
  if (foreign === null) return { ok: true, changed: false, ...describeTakeover(state) };
  const { etag } = foreign;
  if (etag === null) return { ok: false, reason: "foreign_stores", detail: foreign.message };
  const { versions, highest } = await findVersions(store);
  const newest = versions.at(-1);
  state.transaction(() => {
    state.takeOver(versions, etag);
    state.values.set("highest", highest);
    if (newest !== undefined) recordVersion(state, newest, { at });
    state.pauseWithoutEnd({ at, by, note: PAUSE_OF_TAKEOVER, until: null });
  });
  return { ok: true, changed: true, ...describeTakeover(state) };
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

function describeTakeover(state: CoordinatorState) {
  const versions = state.versions();
  const [current] = versions;
  return {
    version: current === undefined ? null : describeVersion(current, versions),
    paused: state.pause() !== null,
  };
}
