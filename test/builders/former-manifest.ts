/** Manifests as the previous release stored them, which `src/parts/former-manifest.ts` converts. */
import { Buffer } from "node:buffer";
import { sha256Hex } from "../../src/catalog/bytes.ts";
import { composeBody } from "../../src/parts/compose.ts";
import {
  FORMER_FORMAT,
  type FormerLines,
  type FormerManifest,
} from "../../src/parts/former-manifest.ts";
import { CODINGS, type Manifest } from "../../src/parts/manifest.ts";
import type { TableStorage } from "../../src/storage/object-tables.ts";

type Segment = FormerManifest["segments"][number];
type Entry = FormerManifest["locales"][string];

/** Makes a manifest of the coordinator's tables and of backups. */
export function toFormer(manifest: Manifest): FormerManifest {
  const { shared: _, diffs, locales, ...head } = manifest;
  const segments = sharedSegments(manifest);
  const entries = Object.keys(locales).map((locale) => [
    locale,
    formerEntry(manifest, locale, segments),
  ]);
  return {
    ...head,
    format: FORMER_FORMAT,
    diffs: formerDiffs(diffs),
    segments,
    locales: Object.fromEntries(entries),
  };
}

/** Makes the text of a manifest in KV and R2. */
export function serializeFormer(manifest: Manifest, format: number = FORMER_FORMAT): string {
  const { shared: _, diffs, locales, ...rest } = manifest;
  const shared = sharedSegments(manifest);
  const entries = Object.keys(locales).map((locale) => {
    const segments = [...shared];
    const entry = formerEntry(manifest, locale, segments);
    return { ...entry, segments: segments.slice(shared.length) };
  });
  const head = { ...rest, format, segments: shared, locales: Object.keys(locales) };
  const lines: FormerLines["lines"] = [head, formerDiffs(diffs), ...entries];
  const texts = lines.map((line) => JSON.stringify(line));
  const json = `{"format":${format},"lines":[\n${texts.join(",\n")}\n]}`;
  return `${json}\n${sha256Hex(json)}`;
}

function sharedSegments({ shared }: Manifest): Segment[] {
  const parts = Object.values(shared).flatMap((ofForm) => Object.values(ofForm));
  return parts.map(({ sha256, bytes }) => [sha256, bytes]);
}

/** Makes the entry of a locale, and lists its segments after the others. */
function formerEntry(manifest: Manifest, locale: string, segments: Segment[]): Entry {
  const indexOf = (segment: Segment) => {
    const index = segments.findIndex((other) => String(other) === String(segment));
    return index === -1 ? segments.push(segment) - 1 : index;
  };
  const representations = ["proto", "json", "grpc-web", "grpc-web-json"] as const;
  const bodies = representations.map((representation) => {
    const codings = CODINGS.flatMap((coding) => {
      const body = composeBody(manifest, { locale, representation, coding });
      if (body === undefined) return [];
      const indexes = body.pieces.map((piece) =>
        indexOf(
          piece instanceof Uint8Array
            ? Buffer.from(piece).toString("base64")
            : [piece.sha256, piece.bytes, ...(piece.isInflated ? ([true] as const) : [])],
        ),
      );
      return [[coding, [body.sha256 ?? sha256Hex(body.key), ...indexes]]];
    });
    return [representation, Object.fromEntries(codings)];
  });
  const coverage = manifest.locales[locale]?.coverage ?? 0;
  // Blocks for browsers with dictionaries, which are no longer read.
  const own = { own: { proto: { blob: sha256Hex(`blocks of ${locale}`), bytes: 5 } } };
  return { coverage, bodies: Object.fromEntries(bodies), ...own };
}

/** Adds deltas, which are no longer read. */
function formerDiffs(diffs: Manifest["diffs"]): FormerManifest["diffs"] {
  const deltas = { blob: sha256Hex("deltas"), locales: {} };
  return diffs.map((diff) => ({ ...diff, deltas }));
}

/** Converts the manifests in the coordinator's tables. */
export function rewriteVersions(
  { sql }: TableStorage,
  convert: (manifest: Manifest) => object = toFormer,
): void {
  for (const { generation, manifest } of sql.exec("SELECT * FROM versions").toArray()) {
    const row = JSON.stringify(convert(JSON.parse(String(manifest))));
    sql.exec("UPDATE versions SET manifest = ? WHERE generation = ?", row, Number(generation));
  }
}
