/** The archived files of a ledger, as gzipped JSON. A version is built from the accepted airports. */
import { isPosition } from "../catalog/integrity.ts";
import type { Position } from "../catalog/positions.ts";
import { node } from "../platform/node.ts";
import type { Sha256Hex } from "../platform/units.ts";
import { gunzip } from "../sources/snapshot.ts";
import type { SourceArchive } from "../storage/source-archive.ts";
import type { Accepted, Ledger } from "../acceptance/airport.ts";
import type { HeldChange } from "../schemas/held-change.ts";
import { isCount } from "../platform/ranges.ts";

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

/**
 * Decodes an archived file of accepted airports. Only `encodeFile` makes them; their names are their
 * hashes. Throws for numbers that no reader of upstream accepts.
 */
export async function decodeAccepted(bytes: ReadableStream<Uint8Array>): Promise<Accepted> {
  const accepted: Accepted = await new Response(gunzip(bytes)).json();
  const { airports, gone, codedRows } = accepted;
  checkPositions([...airports, ...gone, ...airports.flatMap(({ anchor }) => anchor ?? [])]);
  if (codedRows !== null && !isCount(codedRows)) throw new RangeError(`${codedRows} rows`);
  return accepted;
}

function checkPositions(positions: readonly Position[]): void {
  // JSON writes Infinity as null.
  const isRight = ({ lat, lon }: Position) =>
    [lat, lon].every(Number.isFinite) && isPosition({ lat, lon });
  const wrong = positions.find((position) => !isRight(position));
  if (wrong !== undefined) throw new RangeError(`the position ${wrong.lat}, ${wrong.lon}`);
}

/** Decodes an archived file of held changes. Throws as `decodeAccepted` does. */
export async function decodeHeld(
  bytes: ReadableStream<Uint8Array>,
): Promise<readonly HeldChange[]> {
  const held: readonly HeldChange[] = await new Response(gunzip(bytes)).json();
  const records = held.flatMap(({ before, after }) => [before ?? [], after ?? []].flat());
  checkPositions(records.filter((record) => "lat" in record));
  return held;
}

/** Reads a file. Null if it is lost, or has values that no run can have accepted. */
async function readWith<T>(
  archive: Pick<SourceArchive, "read">,
  sha256: Sha256Hex,
  decode: (bytes: ReadableStream<Uint8Array>) => Promise<T>,
): Promise<T | null> {
  const bytes = await archive.read(sha256);
  return bytes && decode(new Blob([bytes]).stream()).catch(() => null);
}

/**
 * Reads the first ledger whose airports are archived.
 *
 * @param ledgers the present one, and earlier ones, newest first.
 * @returns the ledger, if there is one, and whether the present one is lost.
 * @throws StoreError if the archive fails.
 */
export async function readLedger(
  archive: Pick<SourceArchive, "read">,
  ledgers: readonly LedgerFiles[],
): Promise<{ readonly ledger: Ledger | null; readonly isLost: boolean }> {
  for (const [index, files] of ledgers.entries()) {
    const accepted = await readWith(archive, files.accepted, decodeAccepted);
    if (accepted === null) continue;
    // If it is lost, the run finds the held changes again, and they wait from the start.
    const held = (await readWith(archive, files.held, decodeHeld)) ?? [];
    return { ledger: { accepted, held }, isLost: index > 0 };
  }
  return { ledger: null, isLost: ledgers.length > 0 };
}
