import {
  type Body,
  CODINGS,
  type LocaleEntry,
  type Manifest,
  type Representation,
  REPRESENTATIONS,
  type Segment,
} from "./manifest.ts";

/**
 * A manifest as it is stored, in JSON. Bodies name their segments by index, because several share
 * each. What follows from the rest, such as the length of a body, is left out.
 */
interface StoredManifest extends Omit<Manifest, "locales"> {
  /** The segments of all bodies. */
  readonly segments: readonly StoredSegment[];
  readonly locales: { readonly [locale: string]: StoredEntry };
}

/** SHA-256 (hex) and length of a blob, or inline base64. */
type StoredSegment = readonly [sha256: string, bytes: number] | string;

interface StoredEntry extends Pick<LocaleEntry, "coverage"> {
  readonly bodies: { readonly [R in Representation]?: { readonly [coding: string]: StoredBody } };
}

/** SHA-256 (hex) of a body, and the indexes of its segments. */
type StoredBody = readonly [sha256: string, ...segments: number[]];

/** Converts a manifest to the form that `parseManifest` reads. */
export function storedManifest({ locales, ...manifest }: Manifest): StoredManifest {
  const segments: StoredSegment[] = [];
  const indexes = new Map<string, number>();
  const storeSegment = (segment: Segment) => {
    const stored = "blob" in segment ? ([segment.blob, segment.bytes] as const) : segment.inline;
    const key = String(stored);
    const index = indexes.get(key) ?? segments.push(stored) - 1;
    indexes.set(key, index);
    return index;
  };
  const storeBody = (body: Body): StoredBody => [body.sha256, ...body.segments.map(storeSegment)];
  const entries = Object.entries(locales).map(([locale, { coverage, bodies }]) => {
    const forms = REPRESENTATIONS.map((representation) => {
      const codings = CODINGS.flatMap((coding) => {
        const body = bodies[representation][coding];
        return body === undefined ? [] : [[coding, storeBody(body)] as const];
      });
      return [representation, Object.fromEntries(codings)] as const;
    });
    return [locale, { coverage, bodies: Object.fromEntries(forms) }] as const;
  });
  return { ...manifest, segments, locales: Object.fromEntries(entries) };
}
