/** The archived files of a ledger, as gzipped JSON. A version is built from the first one. */
import { gzipSync } from "node:zlib";
import { gunzip } from "../sources/snapshot.ts";
import type { Accepted } from "./airport.ts";
import type { HeldChange } from "./held-change.ts";

export const ACCEPTED_FILE = "accepted.json.gz";
export const HELD_FILE = "held.json.gz";

/** SHA-256 (hex) of the files of a ledger. */
export interface LedgerFiles {
  readonly accepted: string;
  readonly held: string;
}

/** The ledger among the sources of a version; null if it has none. */
export function ledgerOf(sources: { readonly [file: string]: string }): LedgerFiles | null {
  const [accepted, held] = [sources[ACCEPTED_FILE], sources[HELD_FILE]];
  return accepted === undefined || held === undefined ? null : { accepted, held };
}

export function encodeFile(value: Accepted | readonly HeldChange[]): Uint8Array {
  return gzipSync(JSON.stringify(value));
}

/** Decodes the output of `encodeFile`. */
export async function decodeAccepted(bytes: ReadableStream<Uint8Array>): Promise<Accepted> {
  return decode(bytes);
}

/** Decodes the output of `encodeFile`. */
export async function decodeHeld(
  bytes: ReadableStream<Uint8Array>,
): Promise<readonly HeldChange[]> {
  return decode(bytes);
}

/** Only `encodeFile` makes these files, whose names are their hashes. */
async function decode<T>(bytes: ReadableStream<Uint8Array>): Promise<T> {
  return new Response(gunzip(bytes)).json();
}
