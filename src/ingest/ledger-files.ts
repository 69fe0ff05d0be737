/** The archived files of a ledger, as gzipped JSON. A version is built from the first one. */
import { node } from "../platform/node.ts";
import type { Sha256Hex } from "../platform/units.ts";
import { gunzip } from "../sources/snapshot.ts";
import type { SourceArchive } from "../storage/source-archive.ts";
import type { Accepted, Ledger } from "../acceptance/airport.ts";
import type { HeldChange } from "../schemas/held-change.ts";

export const ACCEPTED_FILE = "accepted.json.gz";
export const HELD_FILE = "held.json.gz";

export interface LedgerFiles {
  readonly accepted: Sha256Hex;
  readonly held: Sha256Hex;
}

/** The ledger among the sources of a version; null if it has none. */
export function ledgerOf(sources: { readonly [file: string]: Sha256Hex }): LedgerFiles | null {
  const [accepted, held] = [sources[ACCEPTED_FILE], sources[HELD_FILE]];
  return accepted === undefined || held === undefined ? null : { accepted, held };
}

export function encodeFile(value: Accepted | readonly HeldChange[]): Uint8Array {
  return node.zlib.gzipSync(JSON.stringify(value));
}

/** Needs no check: only `encodeFile` makes these files, and their hashes are their names. */
export async function decodeAccepted(bytes: ReadableStream<Uint8Array>): Promise<Accepted> {
  return new Response(gunzip(bytes)).json();
}

export async function decodeHeld(
  bytes: ReadableStream<Uint8Array>,
): Promise<readonly HeldChange[]> {
  return new Response(gunzip(bytes)).json();
}

/**
 * Reads the first ledger whose airports are archived.
 *
 * @param ledgers the present one, and earlier ones, newest first.
 * @returns no ledger if there is none, and whether the present one is lost.
 * @throws StoreError if the archive fails.
 */
export async function readLedger(
  archive: Pick<SourceArchive, "read">,
  ledgers: readonly LedgerFiles[],
): Promise<{ readonly ledger: Ledger | null; readonly isLost: boolean }> {
  for (const [index, files] of ledgers.entries()) {
    const bytes = await archive.read(files.accepted);
    if (bytes === null) continue;
    const accepted = await decodeAccepted(new Blob([bytes]).stream());
    const held = await archive.read(files.held);
    const isLost = index > 0;
    if (held !== null)
      return { ledger: { accepted, held: await decodeHeld(new Blob([held]).stream()) }, isLost };
    // The next comparison finds the held changes again, and their waits start again.
    return { ledger: { accepted, held: [] }, isLost };
  }
  return { ledger: null, isLost: ledgers.length > 0 };
}
