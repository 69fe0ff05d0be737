import {
  type Body,
  type Coding,
  CODINGS,
  type Counts,
  type DataSource,
  DELTA_FORMS,
  type LocaleEntry,
  type Manifest,
  type Representation,
  REPRESENTATIONS,
  type Segment,
  type StoredDelta,
  type StoredDeltas,
  type StoredDiff,
  type AirportSet,
  AIRPORT_SETS,
} from "./manifest.ts";

type ParsedManifest =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly problem: string };

/**
 * Parses a manifest in the form of `storedManifest`. Checks every field.
 *
 * @returns the manifest, or the first problem, such as `generation is not a count`.
 */
export function parseManifest(text: string): ParsedManifest {
  try {
    return readManifest(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, problem: "not JSON" };
    throw error;
  }
}

/** Does what `parseManifest` does for a value of JSON. */
export function readManifest(value: unknown): ParsedManifest {
  try {
    return { ok: true, manifest: toManifest(value) };
  } catch (error) {
    if (error instanceof ShapeError) return { ok: false, problem: error.message };
    throw error;
  }
}

class ShapeError extends Error {}

type Fields = { readonly [name: string]: unknown };

function toManifest(value: unknown): Manifest {
  const fields = object(value, "manifest");
  if (fields["format"] !== 1) throw new ShapeError("format is not 1");
  const segments = list(fields["segments"], "segments", readSegment);
  const locales = record(fields["locales"], "locales", (entry, path) =>
    readLocale(entry, path, segments),
  );
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
    deltas: readDeltas(fields["deltas"] ?? null, `${path}.deltas`),
  };
}

function readDeltas(value: unknown, path: string): StoredDeltas | null {
  if (value === null) return null;
  const fields = object(value, path);
  const readForms = (forms: unknown, at: string) =>
    Object.fromEntries(
      DELTA_FORMS.flatMap((form) => {
        const delta = object(forms, at)[form];
        return delta === undefined ? [] : [[form, readDelta(delta, `${at}.${form}`)] as const];
      }),
    );
  return {
    blob: sha256(fields["blob"], `${path}.blob`),
    locales: record(fields["locales"], `${path}.locales`, readForms),
  };
}

function readDelta(value: unknown, path: string): StoredDelta {
  const fields = object(value, path);
  return {
    dictionary: sha256(fields["dictionary"], `${path}.dictionary`),
    start: count(fields["start"], `${path}.start`),
    bytes: count(fields["bytes"], `${path}.bytes`),
  };
}

function readAirportSet(value: unknown): AirportSet {
  const found = AIRPORT_SETS.find((known) => known === value);
  if (found === undefined) throw new ShapeError("airport_set must be all or scheduled");
  return found;
}

function readSegment(value: unknown, path: string): Segment {
  if (typeof value === "string" && BASE64.test(value)) return { inline: value };
  const [blob, bytes] = items(value, path);
  return { blob: sha256(blob, `${path}.0`), bytes: count(bytes, `${path}.1`) };
}

function readLocale(value: unknown, path: string, known: readonly Segment[]): LocaleEntry {
  const fields = object(value, path);
  const published = object(fields["bodies"], `${path}.bodies`);
  const { coverage } = fields;
  if (typeof coverage !== "number" || !(coverage >= 0 && coverage <= 1))
    throw new ShapeError(`${path}.coverage is not a share`);
  const readForm = (name: Representation) =>
    readCodings(published[name], `${path}.bodies.${name}`, known);
  // One entry for each of REPRESENTATIONS.
  const bodies = Object.fromEntries(REPRESENTATIONS.map((name) => [name, readForm(name)])) as {
    [R in Representation]: ReturnType<typeof readForm>;
  };
  const { sha256: message, bytes } = bodies.proto.identity;
  return { sha256: message, bytes, coverage, bodies };
}

function readCodings(value: unknown, path: string, known: readonly Segment[]) {
  const fields = object(value, path);
  const bodies: { [C in Coding]?: Body } = {};
  for (const coding of CODINGS)
    if (fields[coding] !== undefined)
      bodies[coding] = readBody(fields[coding], `${path}.${coding}`, known);
  const { identity } = bodies;
  if (identity === undefined) throw new ShapeError(`${path} has no identity`);
  return { ...bodies, identity };
}

function readBody(value: unknown, path: string, known: readonly Segment[]): Body {
  const [hash, ...parts] = items(value, path);
  const segments = parts.map((part): Segment => {
    const segment = typeof part === "number" ? known[part] : undefined;
    if (segment === undefined)
      throw new ShapeError(`${path} has no segment ${JSON.stringify(part)}`);
    return segment;
  });
  const bytes = segments.reduce((sum, segment) => sum + segmentBytes(segment), 0);
  return { sha256: sha256(hash, path), bytes: count(bytes, path), segments };
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

function items(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new ShapeError(`${path} is not a list`);
  return value;
}

function list<T>(
  value: unknown,
  path: string,
  read: (value: unknown, path: string) => T,
): readonly T[] {
  return items(value, path).map((item, index) => read(item, `${path}.${index}`));
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
