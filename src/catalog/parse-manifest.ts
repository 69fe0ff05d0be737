import {
  type Bodies,
  type Body,
  CODINGS,
  type Counts,
  type DataSource,
  type LocaleEntry,
  type Manifest,
  REPRESENTATIONS,
  type Segment,
  type StoredDiff,
  type AirportSet,
  AIRPORT_SETS,
  UNRECORDED,
} from "./manifest.ts";

/**
 * Parses a manifest. Checks every field, and that all statements about the same bytes agree.
 *
 * @returns the manifest, or the first problem, such as `locales.de.bytes is not a count`.
 */
export function parseManifest(
  text: string,
): { ok: true; manifest: Manifest } | { ok: false; problem: string } {
  try {
    return { ok: true, manifest: readManifest(JSON.parse(text)) };
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, problem: "not JSON" };
    if (error instanceof ShapeError) return { ok: false, problem: error.message };
    throw error;
  }
}

class ShapeError extends Error {}

type Fields = { readonly [name: string]: unknown };

function readManifest(value: unknown): Manifest {
  const fields: Fields = { ...UNRECORDED, ...object(value, "manifest") };
  if (fields["format"] !== 1) throw new ShapeError("format is not 1");
  const locales = record(fields["locales"], "locales", readLocale);
  if (Object.keys(locales).length === 0) throw new ShapeError("locales is empty");
  const previous = fields["previous"];
  return {
    format: 1,
    generation: count(fields["generation"], "generation"),
    published_at: time(fields["published_at"], "published_at"),
    catalog_sha256: sha256(fields["catalog_sha256"], "catalog_sha256"),
    sources: record(fields["sources"], "sources", sha256),
    as_of: readAsOf(fields["as_of"]),
    data: list(fields["data"], "data", readSource),
    airport_set: readAirportSet(fields["airport_set"]),
    counts: readCounts(object(fields["counts"], "counts")),
    previous: previous === null ? null : count(previous, "previous"),
    diffs: list(fields["diffs"], "diffs", readDiff),
    locales,
  };
}

function readCounts(fields: Fields): Counts {
  return {
    airports: count(fields["airports"], "counts.airports"),
    cities: count(fields["cities"], "counts.cities"),
    countries: count(fields["countries"], "counts.countries"),
    regions: count(fields["regions"], "counts.regions"),
  };
}

function readAsOf(value: unknown): string | null {
  return value === null ? null : day(value, "as_of");
}

function readSource(value: unknown, path: string): DataSource {
  const fields = object(value, path);
  const name = fields["name"];
  if (typeof name !== "string") throw new ShapeError(`${path}.name is not a text`);
  return { name, as_of: day(fields["as_of"], `${path}.as_of`) };
}

function readDiff(value: unknown, path: string): StoredDiff {
  const fields = object(value, path);
  return {
    generation: count(fields["generation"], `${path}.generation`),
    published_at: time(fields["published_at"], `${path}.published_at`),
    catalog_sha256: sha256(fields["catalog_sha256"], `${path}.catalog_sha256`),
    common: sha256(fields["common"], `${path}.common`),
    local: record(fields["local"], `${path}.local`, sha256),
  };
}

function readAirportSet(value: unknown): AirportSet {
  const found = AIRPORT_SETS.find((known) => known === value);
  if (found === undefined) throw new ShapeError("airport_set must be all or scheduled");
  return found;
}

function readLocale(value: unknown, path: string): LocaleEntry {
  const fields = object(value, path);
  const bodies = object(fields["bodies"], `${path}.bodies`);
  const coverage = fields["coverage"];
  if (typeof coverage !== "number" || !(coverage >= 0 && coverage <= 1))
    throw new ShapeError(`${path}.coverage is not a share`);
  const entry: LocaleEntry = {
    sha256: sha256(fields["sha256"], `${path}.sha256`),
    bytes: count(fields["bytes"], `${path}.bytes`),
    coverage,
    bodies: Object.fromEntries(
      REPRESENTATIONS.map((name) => [name, readCodings(bodies[name], `${path}.bodies.${name}`)]),
    ) as Bodies, // one entry for each of REPRESENTATIONS
  };
  const message = entry.bodies.proto.identity;
  if (message?.sha256 !== entry.sha256 || message.bytes !== entry.bytes)
    throw new ShapeError(`${path} is another message than ${path}.bodies.proto.identity`);
  return entry;
}

function readCodings(value: unknown, path: string): Bodies[keyof Bodies] {
  const fields = object(value, path);
  if (fields["identity"] === undefined) throw new ShapeError(`${path} has no identity`);
  const published = CODINGS.filter((coding) => fields[coding] !== undefined);
  return Object.fromEntries(
    published.map((coding) => [coding, readBody(fields[coding], `${path}.${coding}`)]),
  );
}

function readBody(value: unknown, path: string): Body {
  const fields = object(value, path);
  const body: Body = {
    sha256: sha256(fields["sha256"], `${path}.sha256`),
    bytes: count(fields["bytes"], `${path}.bytes`),
    segments: list(fields["segments"], `${path}.segments`, readSegment),
  };
  const bytes = body.segments.reduce((sum, segment) => sum + segmentBytes(segment), 0);
  if (bytes !== body.bytes)
    throw new ShapeError(`${path}.bytes is ${body.bytes}, but its segments have ${bytes}`);
  return body;
}

function readSegment(value: unknown, path: string): Segment {
  const fields = object(value, path);
  const inline = fields["inline"];
  if (typeof inline === "string" && BASE64.test(inline)) return { inline };
  return { blob: sha256(fields["blob"], `${path}.blob`), bytes: count(fields["bytes"], path) };
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function segmentBytes(segment: Segment): number {
  if ("blob" in segment) return segment.bytes;
  const { inline } = segment;
  const padding = inline.endsWith("==") ? 2 : Number(inline.endsWith("="));
  return (inline.length / 4) * 3 - padding;
}

function object(value: unknown, path: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new ShapeError(`${path} is not an object`);
  return value as Fields; // any object can be read by name
}

function list<T>(
  value: unknown,
  path: string,
  read: (value: unknown, path: string) => T,
): readonly T[] {
  if (!Array.isArray(value)) throw new ShapeError(`${path} is not a list`);
  return value.map((item, index) => read(item, `${path}.${index}`));
}

function record<T>(
  value: unknown,
  path: string,
  read: (value: unknown, path: string) => T,
): { readonly [name: string]: T } {
  const entries = Object.entries(object(value, path));
  return Object.fromEntries(entries.map(([name, item]) => [name, read(item, `${path}.${name}`)]));
}

function count(value: unknown, path: string): number {
  if (!Number.isSafeInteger(value) || Number(value) < 0)
    throw new ShapeError(`${path} is not a count`);
  return Number(value);
}

function sha256(value: unknown, path: string): string {
  if (typeof value !== "string" || !/^[0-9a-f]{64}$/.test(value))
    throw new ShapeError(`${path} is not a SHA-256`);
  return value;
}

/** Parses a valid date, `YYYY-MM-DD`. */
function day(value: unknown, path: string): string {
  const text = String(value);
  if (typeof value !== "string" || !isTime(`${text}T00:00:00.000Z`))
    throw new ShapeError(`${path} is not a day`);
  return text;
}

/** Parses a valid time: RFC 3339 in UTC with milliseconds. */
function time(value: unknown, path: string): string {
  if (typeof value !== "string" || !isTime(value)) throw new ShapeError(`${path} is not a time`);
  return value;
}

function isTime(text: string): boolean {
  const date = new Date(text);
  return !Number.isNaN(date.valueOf()) && date.toISOString() === text;
}
