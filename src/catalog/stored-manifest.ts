import { Buffer } from "node:buffer";
import { sha256Hex } from "./hash.ts";
import type { Body, LocaleEntry, Manifest, Segment } from "./manifest.ts";

/**
 * A manifest as it is stored, in JSON. Bodies name their segments by index, because several share
 * each. What follows from the rest, such as the length of a body, is left out.
 */
export interface StoredManifest extends Omit<Manifest, "format" | "locales"> {
  readonly format: number;
  /** The segments of all bodies. */
  readonly segments: readonly StoredSegment[];
  readonly locales: { readonly [locale: string]: StoredEntry };
}

/** SHA-256 (hex) and length of a blob, or inline base64. */
type StoredSegment = readonly [sha256: string, bytes: number] | string;

interface StoredEntry extends Pick<LocaleEntry, "coverage"> {
  /** By representation and coding. */
  readonly bodies: { readonly [form: string]: { readonly [coding: string]: StoredBody } };
}

/** SHA-256 (hex) of a body, and the indexes of its segments. */
type StoredBody = readonly [sha256: string, ...segments: number[]];

/** Converts a manifest to the form that `fromStored` reads. */
export function toStored({ locales, ...manifest }: Manifest): StoredManifest {
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
  const entries = mapValues(locales, ({ coverage, bodies }) => ({
    coverage,
    bodies: mapValues(bodies, (codings) => mapValues(codings, storeBody)),
  }));
  return { ...manifest, segments, locales: entries };
}

/** Converts a stored manifest that is known to have the right shape. */
export function fromStored({ segments, locales, ...manifest }: StoredManifest): Manifest {
  const known = segments.map((stored): SizedSegment => {
    if (typeof stored !== "string")
      return { segment: { blob: stored[0], bytes: stored[1] }, bytes: stored[1] };
    return { segment: { inline: stored }, bytes: Buffer.from(stored, "base64").length };
  });
  const readBody = ([sha256, ...indexes]: StoredBody): Body => {
    const parts = indexes.flatMap((index) => known[index] ?? []);
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    return { sha256, bytes, segments: parts.map(({ segment }) => segment) };
  };
  const entries = mapValues(locales, ({ coverage, bodies }): LocaleEntry => {
    const forms = mapValues(bodies, (codings) => mapValues(codings, readBody));
    const message = forms["proto"]?.["identity"];
    if (message === undefined) throw new Error("a locale has no message");
    const { sha256, bytes } = message;
    return { sha256, bytes, coverage, bodies: forms as LocaleEntry["bodies"] }; // of the same forms
  });
  return { ...manifest, format: 1, locales: entries };
}

interface SizedSegment {
  readonly segment: Segment;
  readonly bytes: number;
}

function mapValues<T, U>(
  values: { readonly [name: string]: T },
  map: (value: T) => U,
): { readonly [name: string]: U } {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}

/**
 * Serializes a manifest for the stores: JSON, a line feed and the SHA-256 (hex) of the JSON. A
 * blob's key proves its bytes, but a manifest's key is fixed. Without the seal a changed digit would
 * be served, or a wrong generation would keep an isolate from ever updating.
 */
export function sealManifest(manifest: Manifest): string {
  const json = JSON.stringify(toStored(manifest));
  return `${json}\n${sha256Hex(json)}`;
}

type OpenedManifest =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly problem: string };

/** Parses a sealed manifest. The seal proves its shape, because only `sealManifest` makes seals. */
export function openManifest(text: string): OpenedManifest {
  const [json = "", seal] = text.split("\n");
  if (seal !== sha256Hex(json)) return { ok: false, problem: "the seal does not fit" };
  const stored: StoredManifest = JSON.parse(json);
  return stored.format === 1
    ? { ok: true, manifest: fromStored(stored) }
    : { ok: false, problem: `the format is ${stored.format}, not 1` };
}

/** Returns the last line of a sealed manifest, unverified. Two intact texts with one seal are equal. */
export function sealOf(text: Uint8Array): string {
  return new TextDecoder().decode(text.subarray(text.lastIndexOf(LINE_FEED) + 1));
}

const LINE_FEED = 0x0a;
