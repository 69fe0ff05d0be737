/** Builders of manifests, and of published versions whose blobs really hash to their names. */
import { Buffer } from "node:buffer";
import { sha256Hex } from "../../src/catalog/bytes.ts";
import {
  type Bodies,
  type Body,
  type LocaleEntry,
  type Manifest,
  MANIFEST_FORMAT,
  REPRESENTATIONS,
  type StoredDiff,
} from "../../src/catalog/manifest.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

export function aManifest(changes: Partial<Manifest> = {}): Manifest {
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
    locales: { en: aLocaleEntry() },
    ...changes,
  };
}

export function aLocaleEntry(changes: Partial<LocaleEntry> = {}): LocaleEntry {
  const each = { identity: aBody("identity"), gzip: aBody("gzip"), br: aBody("br") };
  const { bodies = inEveryForm(each) } = changes;
  const message = bodies.proto.identity ?? aBody("identity");
  return {
    sha256: message.sha256,
    bytes: message.bytes,
    coverage: 0.5,
    bodies,
    own: {},
    ...changes,
  };
}

/** A body of two stored segments between two that stand in the manifest. */
export function aBody(text: string): Body {
  const whole = `<${text} common|${text} local>`;
  return {
    sha256: sha256Hex(whole),
    bytes: whole.length,
    segments: [
      { inline: Buffer.from("<").toString("base64") },
      { blob: sha256Hex(`${text} common|`), bytes: text.length + 8 },
      { blob: sha256Hex(`${text} local`), bytes: text.length + 6 },
      { inline: Buffer.from(">").toString("base64") },
    ],
  };
}

/** The stored blobs of `aBody(text)`, by their SHA-256. */
export function blobsOf(text: string): [sha256: string, bytes: Uint8Array][] {
  return [`${text} common|`, `${text} local`].map((part) => [sha256Hex(part), utf8(part)]);
}

/** The same codings in every form. */
export function inEveryForm(codings: Bodies["proto"]): Bodies {
  return Object.fromEntries(REPRESENTATIONS.map((form) => [form, codings])) as Bodies; // one for each
}

/** A version of one locale, `en`, that says `text`, in the codings identity and gzip. */
export function aVersion(
  generation: number,
  text: string,
): { manifest: Manifest; blobs: [sha256: string, bytes: Uint8Array][] } {
  const bodies = { identity: aBody(text), gzip: aBody(`${text} gz`) };
  const entry = aLocaleEntry({
    bodies: inEveryForm(bodies),
  });
  const previous = generation === 1 ? null : generation - 1;
  return {
    manifest: aManifest({ generation, previous, locales: { en: entry } }),
    blobs: [...blobsOf(text), ...blobsOf(`${text} gz`)],
  };
}

/** A diff of two locales, with deltas of one of them. */
export function aDiff(changes: Partial<StoredDiff> = {}): StoredDiff {
  const delta = { dictionary: "e".repeat(64), start: 0, bytes: 400, common: 300 };
  return {
    generation: 1,
    published_at: "2026-11-01T04:17:00.000Z",
    catalog_sha256: "a".repeat(64),
    common: "b".repeat(64),
    local: { de: "c".repeat(64), en: "d".repeat(64) },
    deltas: { blob: "f".repeat(64), locales: { de: { proto: delta, json: delta }, en: {} } },
    ...changes,
  };
}
