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

/** Stands for the hash of the bytes. `findDeltaTag` knows the target by it. */
function keyOf(dictionary: string, target: Body): string {
  return dictionary.slice(0, 16) + target.sha256.slice(0, 48);
}

const made = new WeakMap<object, Body>();

function memoized<K extends object>(key: K, make: (key: K) => Body): Body {
  const known = made.get(key) ?? make(key);
  made.set(key, known);
  return known;
}
