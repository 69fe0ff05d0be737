import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Random } from "./random.ts";

/** Airports of the small world that most runs publish, since a small one is compressed quickly. */
const SMALL_AIRPORTS = 400;
/** Airports of the world that only a forced run publishes after a small one. */
const SHRUNK_AIRPORTS = 240;
/** No catalog has fewer, not even one that is forced out of an unusable file. */
export const FEWEST_AIRPORTS = 100;
/** Airports that a variation leaves out: few enough for the guards. */
const LEFT_OUT_MAX = 4;
const REGION_COLUMN = 9;

const [heading = "", ...lines] = gunzipSync(readFileSync("data/snapshot/airports.csv.gz"))
  .toString()
  .trimEnd()
  .split("\n");

export const REGIONS_FILE = new Uint8Array(readFileSync("data/snapshot/regions.csv.gz"));

const small = lines.slice(0, SMALL_AIRPORTS);
/** Airports of the region that has most: leaving some of them out changes one region only. */
const inLargestRegion = largestGroup(small, (line) => line.split(",").at(REGION_COLUMN) ?? "");

/** A small world that lacks a few airports, others with each call. */
export function goodAirports(random: Random): Uint8Array<ArrayBuffer> {
  const left = new Set(small);
  for (let count = random.between(1, LEFT_OUT_MAX); count > 0; count--)
    left.delete(random.pick(inLargestRegion));
  return file([...left]);
}

/** A world so much smaller that the guards refuse it. */
export function shrunkAirports(): Uint8Array<ArrayBuffer> {
  return file(small.slice(0, SHRUNK_AIRPORTS));
}

/**
 * Files that must never be published unless forced: too few airports, a broken row, a page instead of
 * CSV, nothing.
 */
export function badAirports(random: Random): Uint8Array<ArrayBuffer> {
  const text = Buffer.from(file(small)).toString();
  return random.pick([
    () => file(small.slice(0, SHRUNK_AIRPORTS / 2)),
    () =>
      bytes(`${text.slice(0, random.between(Math.floor(text.length / 2), text.length - 200))}"`),
    () => bytes("<!doctype html><title>Sorry</title>"),
    () => bytes(""),
    () => file([]),
    () => file(small.map((line) => line.replace(/,(-?\d+\.\d+),/, ",not a number,"))),
  ])();
}

function largestGroup(rows: readonly string[], key: (row: string) => string): readonly string[] {
  const groups = [...Map.groupBy(rows, key).values()];
  return groups.toSorted((a, b) => b.length - a.length)[0] ?? [];
}

function file(rows: readonly string[]): Uint8Array<ArrayBuffer> {
  return bytes(`${[heading, ...rows].join("\n")}\n`);
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text));
}
