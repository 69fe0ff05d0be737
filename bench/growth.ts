/**
 * `node bench/growth.ts`: what an ingest costs when the world grows. The catalog of the snapshot is
 * taken once, three and ten times over, a copy at a time as `encodeCommon` takes its lists, and each
 * size is encoded in a process of its own whose heap is held to an isolate's 128 MB.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { concatenate } from "../src/catalog/bytes.ts";
import { type EncodedPart, encodeCommon, encodeLocal } from "../src/catalog/encode.ts";
import { sha256Hex } from "../src/catalog/hash.ts";
import type { Catalog, RegionNames } from "../src/catalog/model.ts";
import { commonUnits, encodeCommonSegment } from "../src/ingest/bodies.ts";
import { buildCatalog } from "../src/ingest/build.ts";
import { brotliWhole } from "../src/ingest/segment-coders.ts";
import { readAirports, readRegionNames } from "../src/sources/our-airports.ts";
import { readReference, readRegionNames as readLocaleNames } from "../src/sources/reference.ts";
import { gunzip } from "../src/sources/snapshot.ts";
import { printTable } from "./report.ts";
import { round } from "./statistics.ts";

const SNAPSHOT = "data/snapshot";
const SIZES = [1, 3, 10];
const HEAP_MB = 128;
const LOCALE = "de";
/** Of Node's brotli, which joins no segments: the part is compressed in one piece. */
const BROTLI_QUALITY = 9;

/** What one size came to, in ms but for what says otherwise. */
interface Measured {
  readonly entities: number;
  readonly messageMb: number;
  readonly steps: { readonly [step: string]: number };
  /** Most memory above what the process had before the first step. */
  readonly peakMb: number;
}

const [size] = process.argv.slice(2);
if (size === undefined) process.stdout.write(report(SIZES.map(measureApart)));
else process.stdout.write(JSON.stringify(await measure(Number(size))));

/** Measures one size in a process of its own. */
function measureApart(times: number): Measured {
  const args = [`--max-old-space-size=${HEAP_MB}`, "bench/growth.ts", String(times)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${times} times the world: ${stderr}`);
  return JSON.parse(stdout);
}

async function measure(times: number): Promise<Measured> {
  const world = await readWorld();
  const baseline = process.memoryUsage().rss;
  const steps: { [step: string]: number } = {};
  const time = <T>(step: string, work: () => T): T => {
    const began = performance.now();
    const result = work();
    steps[step] = (steps[step] ?? 0) + performance.now() - began;
    return result;
  };
  const commons: EncodedPart[] = [];
  const locals: EncodedPart[] = [];
  let entities = 0;
  for (let copy = 0; copy < times; copy++) {
    const { catalog, names } = copyOf(world, copy);
    commons.push(time("encode the common part", () => encodeCommon(catalog)));
    locals.push(time("encode a locale", () => encodeLocal(catalog.regions, names)));
    const { airports, cities, countries, regions } = catalog;
    entities += airports.length + cities.length + countries.length + regions.length;
  }
  const common = joinParts(commons);
  const local = joinParts(locals);
  time("hash the message", () => sha256Hex(common.proto, local.proto));
  for (const unit of commonUnits().filter(({ coding }) => coding === "gzip"))
    time("compress the common part, gzip", () => encodeCommonSegment(unit, common));
  time("compress the common part, brotli", () =>
    brotliWhole(common.proto, { brotliQuality: BROTLI_QUALITY, gzipLevel: 9 }),
  );
  return {
    entities,
    messageMb: (common.proto.length + local.proto.length) / 2 ** 20,
    steps,
    peakMb: (process.resourceUsage().maxRSS * 1024 - baseline) / 2 ** 20,
  };
}

/** Lists of several copies, one after the other; in JSON they are objects in a row. */
function joinParts(parts: readonly EncodedPart[]): EncodedPart {
  return {
    proto: concatenate(parts.map(({ proto }) => proto)),
    json: concatenate(parts.map(({ json }) => json)),
  };
}

interface World {
  readonly catalog: Catalog;
  readonly names: RegionNames;
}

/** The catalog of the snapshot and its names in one locale. */
async function readWorld(): Promise<World> {
  const open = (name: string) =>
    gunzip(new Blob([new Uint8Array(readFileSync(`${SNAPSHOT}/${name}`))]).stream());
  const reference = await readReference(open);
  const countries = new Set(reference.countries.map(({ isoCode2 }) => isoCode2));
  const { airports } = await readAirports(open("airports.csv.gz"), countries);
  const regionNames = await readRegionNames(open("regions.csv.gz"));
  const { catalog } = buildCatalog(airports, regionNames, reference);
  const slugs = new Map(catalog.regions.map(({ key, slug }) => [key, slug]));
  return { catalog, names: await readLocaleNames(open, LOCALE, slugs) };
}

/**
 * A copy of the world, with ids, codes and slugs of its own, which refers to itself only. There are
 * too few IATA codes of three letters for ten. The first copy is the original.
 */
function copyOf({ catalog, names }: World, copy: number): World {
  if (copy === 0) return { catalog, names };
  const id = (original: Uint8Array) => original.map((byte) => byte ^ copy);
  const code = (iata: string) => `${iata}${copy}`;
  const copied: Catalog = {
    airports: catalog.airports.map((airport) => ({
      ...airport,
      id: id(airport.id),
      iata: code(airport.iata),
      cityId: id(airport.cityId),
    })),
    cities: catalog.cities.map((city) => ({
      ...city,
      id: id(city.id),
      countryId: id(city.countryId),
    })),
    countries: catalog.countries.map((country) => ({ ...country, id: id(country.id) })),
    regions: catalog.regions.map((region) => ({
      ...region,
      id: id(region.id),
      key: `${region.key}-${copy}`,
      slug: `${region.slug}-${copy}`,
      airportIataCodes: region.airportIataCodes.map(code),
    })),
  };
  const copiedNames = [...names].map(
    ([key, { name, slug }]) => [`${key}-${copy}`, { name, slug: `${slug}-${copy}` }] as const,
  );
  return { catalog: copied, names: new Map(copiedNames) };
}

function report(all: readonly Measured[]): string {
  const row = (name: string, decimals: number, of: (one: Measured) => number): string[] => {
    const values = all.map(of);
    const ratios = values.slice(1).map((value) => round(value / (values[0] ?? NaN), 1));
    return [name, ...values.map((value) => round(value, decimals)), ...ratios];
  };
  const steps = Object.keys(all[0]?.steps ?? {});
  const more = SIZES.slice(1).map((times) => `${times}× to 1×`);
  const table = printTable({
    title: `A growing world, in a heap of ${HEAP_MB} MB`,
    columns: ["", ...SIZES.map((times) => `${times}×`), ...more],
    rows: [
      row("entities", 0, ({ entities }) => entities),
      row(`message in ${LOCALE}, MB`, 1, ({ messageMb }) => messageMb),
      ...steps.map((step) => row(`${step}, ms`, 0, (one) => one.steps[step] ?? NaN)),
      row("peak memory above one world, MB", 0, ({ peakMb }) => peakMb),
    ],
  });
  return `${table}
Brotli is Node's, in one piece and at quality ${BROTLI_QUALITY}: unlike workerd's it refuses segments that join. gzip
is that of all representations. A copy of the world at a time is in memory as objects; the encoded
bytes of all of them are. A message over 3.5 MiB is refused by a guard before it is compressed.
`;
}
