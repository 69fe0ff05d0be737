import type { Hash } from "node:crypto";
import { lengthOf, sha256Hex } from "../catalog/bytes.ts";
import {
  canJoin,
  type Compression,
  type CompressionTask,
  crc32Of,
  type Effort,
  type OwnInput,
  provesOwn,
} from "../parts/codings.ts";
import { type Edges, messageEdges, windowBitsFor } from "../parts/compose.ts";
import { messageFrameHeader, SUCCESS_TRAILER_FRAME } from "../parts/framing.ts";
import type { Coding, OwnParts, StoredPart } from "../parts/manifest.ts";
import { node } from "../platform/node.ts";
import type { Sha256Hex } from "../platform/units.ts";

/** Bytes with the hash that is their key in the stores. */
export interface HashedBlob {
  readonly sha256: Sha256Hex;
  readonly bytes: Uint8Array;
}

/** Compresses a part, at the effort of the settings unless the task says another. */
export type Compress = (
  task: Omit<CompressionTask, "effort"> & { readonly effort?: Effort },
) => Promise<Uint8Array>;

export interface OwnDependencies {
  /** Reads the shared part of the form. */
  readonly shared: (coding: Coding) => Promise<HashedBlob>;
  readonly compress: Compress;
  /** Reads the part that the current version has in a coding. If it proves right, it is taken. */
  readonly earlier: (coding: Compression) => Promise<HashedBlob | null>;
  /** Stores a blob that was made, whatever the current version names: no store has it intact. */
  readonly store: (blob: HashedBlob) => Promise<void>;
}

/** Compresses, proves and stores the part of a locale in one form. Rejects as `deps` do. */
export async function makeOwnParts(local: Uint8Array, deps: OwnDependencies): Promise<OwnParts> {
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
  const hash = async (coding: Coding, own: Uint8Array) => {
    const between = { sharedBytes: shared.length, bytes: lengthOf(message), crc32: crc32.message };
    return hashMessage((await deps.shared(coding)).bytes, own, messageEdges(coding, between));
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

/** Takes the part of the current version if it decodes to the same, or else compresses. */
async function makePart(
  coding: Compression,
  input: OwnInput,
  { earlier, compress, store }: OwnDependencies,
): Promise<HashedBlob> {
  const before = await earlier(coding);
  if (before !== null && provesOwn(coding, before.bytes, input)) return before;
  const { bytes, sharedBytes } = input;
  const windowBits = windowBitsFor(sharedBytes);
  // A higher effort uses words of brotli's dictionary, which depend on the position within the window.
  const isFast = coding === "br" && sharedBytes < 2 ** windowBits;
  const effort = isFast ? { effort: "fast" as const } : {};
  const task = { bytes, coding, offset: sharedBytes, windowBits, ...effort };
  const made = hashBlob(await compress(task));
  if (!provesOwn(coding, made.bytes, input)) throw new NotDecodable("the part of a locale", coding);
  await store(made);
  return made;
}

/** Hashes a message. Up to its shared part all locales begin alike: that is hashed once. */
function hashMessage(shared: Uint8Array, own: Uint8Array, [open, close]: Edges): Sha256Hex {
  const begun =
    beginnings.get(shared) ?? node.crypto.createHash("sha256").update(open).update(shared);
  beginnings.set(shared, begun);
  return begun.copy().update(own).update(close).digest("hex");
}

/** Hashes of what messages begin with, by the shared part. */
const beginnings = new WeakMap<Uint8Array, Hash>();

/** Compressed bytes do not decode to what they were made from. */
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
