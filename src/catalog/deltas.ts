import { Buffer } from "node:buffer";
import { encodeDcz, MATCH_MIN_BYTES } from "./dcz.ts";
import { type AnyCoding, bodyIn, isDeltaCoding } from "./framing.ts";
import { type Body, DELTA_FORMS, type Manifest, type Representation } from "./manifest.ts";

interface WantedBody {
  readonly locale: string;
  readonly representation: Representation;
  readonly coding: AnyCoding;
}

/** Finds a body of a version, or one in `dcz` for the dictionary that the coding names. */
export function findBody(manifest: Manifest, wanted: WantedBody): Body | undefined {
  const { locale, representation, coding } = wanted;
  const bodies = manifest.locales[locale]?.bodies;
  if (!isDeltaCoding(coding)) return bodies && bodyIn(bodies, representation, coding);
  const form = DELTA_FORMS.find((each) => each === representation);
  const identity = form && bodies?.[form].identity;
  if (form === undefined || identity === undefined) return undefined;
  const dictionary = coding.slice("dcz:".length);
  if (dictionary === identity.sha256)
    return identity.bytes < MATCH_MIN_BYTES ? undefined : memoized(identity, selfDelta);
  for (const { deltas } of manifest.diffs) {
    const delta = deltas?.locales[locale]?.[form];
    if (!deltas || delta?.dictionary !== dictionary) continue;
    return memoized(delta, ({ start, bytes }) => {
      const segment = { blob: deltas.blob, start, bytes };
      return { sha256: keyOf(dictionary, identity), bytes, segments: [segment] };
    });
  }
  return undefined;
}

/**
 * Makes the body for a client that has this content already, but as the answer to another request:
 * the tag that it revalidates is that of another dictionary.
 */
function selfDelta(identity: Body): Body {
  const { sha256, bytes } = identity;
  const dcz = encodeDcz({
    dictionary: identity,
    bytes,
    matches: [{ from: 0, to: 0, bytes }],
    literals: () => new Uint8Array(),
  });
  const segment = { inline: Buffer.from(dcz).toString("base64") };
  return { sha256: keyOf(sha256, identity), bytes: dcz.length, segments: [segment] };
}

/** Stands for the hash of the bytes. */
function keyOf(dictionary: string, target: Body): string {
  return dictionary.slice(0, 16) + target.sha256.slice(0, 48);
}

const made = new WeakMap<object, Body>();

function memoized<K extends object>(key: K, make: (key: K) => Body): Body {
  const known = made.get(key) ?? make(key);
  made.set(key, known);
  return known;
}
