import { parseArgs } from "node:util";
import { readAirports } from "./airports.ts";
import { checkSubdivisions, readDivisions } from "./airport-subdivisions.ts";
import { checkSnapshot } from "./check.ts";
import { resolveCities, wantedNames } from "./cities.ts";
import { changedSlugs } from "./changed-slugs.ts";
import { readCountries } from "./countries.ts";
import { coverageTable } from "./coverage-table.ts";
import type { Table } from "./csv.ts";
import { readCurated } from "./curated.ts";
import { readEvidence } from "./evidence.ts";
import { checkFalls } from "./falls.ts";
import { readGazetteer } from "./gazetteer.ts";
import { readMacroRegions } from "./macro-regions.ts";
import { countWorld, makeManifest, type World } from "./manifest.ts";
import { buildLocales } from "./names.ts";
import {
  buildSpareRegions,
  airportsOfNamedRegions,
  buildRegions,
  readRegionRows,
} from "./regions.ts";
import { regionFinder } from "./place-regions.ts";
import { listedMembers } from "./region-members.ts";
import { readServedCities } from "./served-cities.ts";
import { readPublishedManifest, readPublishedNames } from "./snapshot-reader.ts";
import { findSpareCities } from "./spare-cities.ts";
import * as tables from "./tables.ts";
import { compareCodeUnits } from "./text.ts";
import { readVerdicts } from "./verdicts.ts";
import { type FileEntry, replaceSnapshot, writeTable, writeText } from "./write.ts";

function progress(line: string): void {
  console.log(`${(performance.now() / 1000).toFixed(1).padStart(5)} s  ${line}`);
}

async function buildWorld(): Promise<World> {
  const { airports, corrections, newest } = readAirports();
  progress(`${airports.length} airports`);
  const served = readServedCities(airports);
  const gazetteer = await readGazetteer(wantedNames(airports, served));
  const regionOf = regionFinder(airports, gazetteer);
  const assignments = resolveCities({ airports, served, gazetteer, regionOf });
  progress(`${new Set(assignments.map(({ city }) => city.key)).size} cities`);
  const spareCities = findSpareCities(assignments, gazetteer, regionOf);
  const world = readMacroRegions().find((region) => region.code === "001");
  const countries = readCountries(new Set(world?.countries));
  progress(`${countries.length} countries`);
  const rows = readRegionRows();
  const regions = buildRegions(airports, rows);
  const divisions = readDivisions();
  const told = listedMembers(readCurated("region-members"), airports);
  const misplaced = checkSubdivisions({ airports, regions, gazetteer, divisions, told });
  if (misplaced.length > 0) throw new Error(misplaced.join("\n"));
  const spareRegions = buildSpareRegions(regions, newest, rows);
  progress(`${regions.length} regions, ${spareRegions.length} without an airport`);
  const verdicts = readVerdicts();
  const locales = buildLocales(regions, spareRegions, {
    weights: airportsOfNamedRegions(regions, airports),
    verdicts,
    evidence: await readEvidence([...regions, ...spareRegions], rows, verdicts),
  });
  progress(`${locales.length} locales`);
  console.log(coverageTable(locales));
  return {
    assignments,
    corrections,
    spareCities,
    countries,
    regions,
    spareRegions,
    locales,
  };
}

function tablesOf(world: World): [name: string, table: Table][] {
  const { assignments, corrections, spareCities, countries, regions, spareRegions, locales } =
    world;
  return [
    ["airports.csv.gz", tables.airportsTable(assignments.map(({ airport }) => airport))],
    ["airport-corrections.csv.gz", tables.correctionsTable(corrections)],
    ["regions.csv.gz", tables.regionsTable(readRegionRows())],
    ["countries.csv.gz", tables.countriesTable(countries)],
    ["cities.csv.gz", tables.citiesTable(assignments)],
    ["airport-cities.csv.gz", tables.airportCitiesTable(assignments)],
    ["gazetteer.csv.gz", tables.gazetteerTable(spareCities)],
    ["places.csv.gz", tables.placesTable(assignments)],
    [
      "catalog-regions.csv.gz",
      tables.catalogRegionsTable(
        [...regions, ...spareRegions],
        assignments.map(({ airport }) => airport),
      ),
    ],
    ...locales.map((names): [string, Table] => [
      `names/${names.locale}.json.gz`,
      tables.namesTable(names),
    ]),
  ];
}

function write(world: World): readonly string[] {
  const files: Record<string, FileEntry> = {};
  for (const [name, table] of tablesOf(world).toSorted(([a], [b]) => compareCodeUnits(a, b)))
    files[name] = writeTable(name, table);
  const manifest = makeManifest(world, files);
  writeText("manifest.json", `${JSON.stringify(manifest, null, 2)}\n`);
  const bytes = Object.values(files).reduce((sum, file) => sum + file.bytes, 0);
  progress(`${Object.keys(files).length} files, ${bytes} bytes, snapshot ${manifest.snapshot}`);
  return checkSnapshot();
}

async function build(): Promise<void> {
  const { values: options } = parseArgs({ options: { fewer: { type: "string", multiple: true } } });
  const world = await buildWorld();
  const falls = checkFalls(readPublishedManifest()?.counts, countWorld(world), options.fewer ?? []);
  if (falls.length > 0) throw new Error(falls.join("\n"));
  const changed = world.locales.flatMap((locale) =>
    changedSlugs(readPublishedNames(locale.locale), locale),
  );
  const unexplained = changed.filter(({ reason }) => reason === undefined);
  for (const { locale, key, before, now, reason } of changed)
    console.log(`slug of ${key} in ${locale}: ${before} is ${now || "the base slug"}: ${reason}`);
  if (unexplained.length > 0)
    throw new Error(`${unexplained.length} slugs change whose names do not`);
  const problems = replaceSnapshot(() => write(world));
  if (problems.length === 0) return progress("all checks passed");
  for (const problem of problems) console.error(`check failed: ${problem}`);
  throw new Error(
    `${problems.length} checks failed; the snapshot is as it was, the refused one in data/snapshot.refused`,
  );
}

try {
  await build();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
