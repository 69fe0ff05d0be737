import { expect, it } from "vitest";
import { isSubdivision } from "../build/catalog-region.ts";
import { readTraffic } from "../build/airport-traffic.ts";
import { airportsOfRegion } from "../build/served-airports.ts";
import { readSnapshotTable, readTables } from "../build/snapshot-reader.ts";

/** The subdivisions and territories that together carry this share of the traffic have names. */
const SHARE = 0.95;
/** Of that, where a membership has changed since somebody read the names. */
const NAMED = 0.99;
/** Chakma, in which hardly anybody writes names of places. */
const NAMED_IN_CHAKMA = 0.95;

const tables = readTables();
const traffic = readTraffic();
const airportsOf = airportsOfRegion(tables);
const sum = (weights: Iterable<number>) => [...weights].reduce((all, weight) => all + weight, 0);

const weights = tables.regions
  .filter(({ key = "" }) => isSubdivision(key))
  .map((region): [key: string, weight: number] => [
    region["key"] ?? "",
    sum(airportsOf(region).map((airport) => traffic.get(airport["iata_code"] ?? "") ?? 0)),
  ])
  .toSorted(([, a], [, b]) => b - a);
const total = sum(weights.map(([, weight]) => weight));
let carried = 0;
const busy = weights.filter(([, weight]) => {
  const isBusy = carried < SHARE * total;
  carried += weight;
  return isBusy;
});
const locales = tables.manifest.locales.map(({ locale }) => locale).filter((one) => one !== "en");

it.each(locales)("in %s, the regions that carry 95 % of the traffic have names", (locale) => {
  const named = new Set(readSnapshotTable(`names/${locale}.json.gz`).map(({ key }) => key));
  const share = sum(busy.flatMap(([key, weight]) => (named.has(key) ? [weight] : [])));
  const all = sum(busy.map(([, weight]) => weight));
  expect(share / all).toBeGreaterThan(locale === "ccp" ? NAMED_IN_CHAKMA : NAMED);
});
