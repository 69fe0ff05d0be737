/** Builders of manifests, and of published versions whose blobs really hash to their names. */
import { sha256Hex } from "../../src/catalog/bytes.ts";
import type { EncodedPart } from "../../src/catalog/encode.ts";
import { composeBody } from "../../src/parts/compose.ts";
import {
  type Coding,
  type LocaleEntry,
  type Manifest,
  MANIFEST_FORMAT,
  type StoredDiff,
} from "../../src/parts/manifest.ts";
import { type MadeParts, makeParts } from "./parts.ts";

const EXAMPLE = makeParts(textPart("shared"), { en: textPart("English") });

export function aManifest(changes: Partial<Manifest> = {}): Manifest {
  const { shared, locales } = EXAMPLE;
  return {
    format: MANIFEST_FORMAT,
    generation: 1,
    published_at: "2026-11-01T04:17:00.000Z",
    catalog_sha256: sha256Hex("catalog"),
    sources: { "airports.csv.gz": sha256Hex("airports") },
    as_of: "2026-10-20",
    data: [{ name: "OurAirports: airports", as_of: "2026-10-20" }],
    airport_set: "all",
    counts: { airports: 2, cities: 2, countries: 2, regions: 2 },
    previous: null,
    diffs: [],
    shared,
    locales,
    ...changes,
  };
}

export function aLocaleEntry(changes: Partial<LocaleEntry> = {}): LocaleEntry {
  const { en } = EXAMPLE.locales;
  if (en === undefined) throw new Error("the example has no locale");
  return { ...en, ...changes };
}

/** A version of some locales, whose text in protobuf is `<text shared|text locale>`, without brotli. */
export function aVersion(
  generation: number,
  text: string,
  locales: readonly string[] = ["en"],
): { manifest: Manifest; blobs: MadeParts["blobs"] } {
  const locals = locales.map((locale) => [locale, textPart(`${text} ${locale}>`)]);
  const { blobs, ...parts } = makeParts(textPart(`<${text} shared|`), Object.fromEntries(locals), {
    codings: ["gzip"],
  });
  const previous = generation === 1 ? null : generation - 1;
  return { manifest: aManifest({ generation, previous, ...parts }), blobs };
}

/** The same text in both forms, one after a word. */
function textPart(text: string): EncodedPart {
  const bytes = (written: string) => new Uint8Array(new TextEncoder().encode(written));
  return { proto: bytes(text), json: bytes(`json ${text}`) };
}

/** The SHA-256 (hex) of the stored parts of the only body of `aVersion(text)` in protobuf, in a coding. */
export function partsOf(
  text: string,
  coding: Coding = "identity",
): readonly [shared: string, locale: string] {
  const { manifest } = aVersion(1, text);
  const body = composeBody(manifest, { locale: "en", representation: "proto", coding });
  const [shared = "", locale = ""] = (body?.pieces ?? []).flatMap((piece) =>
    "sha256" in piece ? [piece.sha256] : [],
  );
  return [shared, locale];
}

/** A diff of two locales. */
export function aDiff(changes: Partial<StoredDiff> = {}): StoredDiff {
  return {
    generation: 1,
    published_at: "2026-11-01T04:17:00.000Z",
    catalog_sha256: "a".repeat(64),
    common: "b".repeat(64),
    local: { de: "c".repeat(64), en: "d".repeat(64) },
    ...changes,
  };
}
