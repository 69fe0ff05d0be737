import type { Hash } from "node:crypto";
import { lengthOf, sha256Hex } from "../catalog/bytes.ts";
import {
  canJoin,
  type Compression,
  type CompressionInput,
  crc32Of,
  type Effort,
  type LocalePartInput,
  provesLocalePart,
} from "../parts/codings.ts";
import { type Edges, messageEdges, windowBitsFor } from "../parts/compose.ts";
import { messageFrameHeader, SUCCESS_TRAILER_FRAME } from "../parts/framing.ts";
import type { Coding, LocaleParts, StoredPart } from "../parts/manifest.ts";
import { node } from "../platform/node.ts";
import type { Sha256Hex } from "../platform/units.ts";

/** Bytes with the hash that is their key in the stores. */
export interface HashedBlob {
  readonly sha256: Sha256Hex;
  readonly bytes: Uint8Array;
}

/** Compresses a part, at the effort of the settings unless the input names another. */
export type Compress = (
  input: Omit<CompressionInput, "effort"> & { readonly effort?: Effort },
) => Promise<Uint8Array>;

export interface LocalePartDependencies {
  readonly shared: (coding: Coding) => Promise<HashedBlob>;
  readonly compress: Compress;
  /** Reads the part that the current version has in a coding. If it decodes right, it is reused. */
  readonly earlier: (coding: Compression) => Promise<HashedBlob | null>;
  /** Stores a new blob even if the current version names it: no store has it intact. */
  readonly store: (blob: HashedBlob) => Promise<void>;
}

/** Compresses, proves and stores the locale part in one form. Rejects as `deps` do. */
export async function makeLocaleParts(
  local: Uint8Array,
  deps: LocalePartDependencies,
): Promise<LocaleParts> {
  const shared = (await deps.shared("identity")).bytes;
  const input = { bytes: local, sharedBytes: shared.length };
  const gzip = await makePart("gzip", input, deps);
  const br = canJoin("br") ? await makePart("br", input, deps) : undefined;
  const message = [shared, local];
  const header = messageFrameHeader(lengthOf(message));
  const crc32 = {
    message: crc32Of(message),
    framed: crc32Of([header, ...message, SUCCESS_TRAILER_FRAME]),
  };
  const hash = async (coding: Coding, part: Uint8Array) => {
    const between = { sharedBytes: shared.length, bytes: lengthOf(message), crc32: crc32.message };
    return hashMessage((await deps.shared(coding)).bytes, part, messageEdges(coding, between));
  };
  return {
    bytes: local.length,
    gzip: toPart(gzip),
    ...(br && { br: toPart(br) }),
    digests: {
      identity: await hash("identity", local),
      gzip: await hash("gzip", gzip.bytes),
      ...(br && { br: await hash("br", br.bytes) }),
    },
    crc32,
  };
}

/** Reuses the part of the current version if it decodes to the same bytes, or else compresses. */
async function makePart(
  coding: Compression,
  input: LocalePartInput,
  { earlier, compress, store }: LocalePartDependencies,
): Promise<HashedBlob> {
  const before = await earlier(coding);
  if (before !== null && provesLocalePart(coding, before.bytes, input)) return before;
  const { bytes, sharedBytes } = input;
  const windowBits = windowBitsFor(sharedBytes);
  // A higher effort uses words of brotli's dictionary, which depend on the position within the window.
  const isFast = coding === "br" && sharedBytes < 2 ** windowBits;
  const effort = isFast ? { effort: "fast" as const } : {};
  const task = { bytes, coding, offset: sharedBytes, windowBits, ...effort };
  const made = hashBlob(await compress(task));
  if (!provesLocalePart(coding, made.bytes, input)) throw new NotDecodable("a locale part", coding);
  await store(made);
  return made;
}

/** Hashes a message. Up to the end of the shared part, all locales are alike: that is hashed once. */
function hashMessage(shared: Uint8Array, localePart: Uint8Array, [open, close]: Edges): Sha256Hex {
  const hash =
    prefixHashes.get(shared) ?? node.crypto.createHash("sha256").update(open).update(shared);
  prefixHashes.set(shared, hash);
  return hash.copy().update(localePart).update(close).digest("hex");
}

/** Hash states up to the shared part, by the shared part. */
const prefixHashes = new WeakMap<Uint8Array, Hash>();

export class NotDecodable extends Error {
  override readonly name = "NotDecodable";

  constructor(what: string, coding: Compression) {
    super(`${what} in ${coding} does not decode to its input`);
  }
}

export function toPart({ sha256, bytes }: HashedBlob): StoredPart {
  return { sha256, bytes: bytes.length };
}

export function hashBlob(bytes: Uint8Array): HashedBlob {
  return { sha256: sha256Hex(bytes), bytes };
}
