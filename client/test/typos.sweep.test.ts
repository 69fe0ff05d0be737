import { describe, expect, it } from "vitest";
import type { CityPlace } from "../src/catalog.ts";
import { foldForSearch } from "../src/search/fold.ts";
import { snapshotFinder } from "../../test/builders/catalog-finder.ts";

const CITIES = 200;
const KEYS = "qwertyuiop asdfghjkl zxcvbnm".split(" ");

const { catalog, find } = await snapshotFinder();
const byTraffic = catalog.airports.toSorted((a, b) => a.rank - b.rank);
const cities = [...new Set(byTraffic.map(({ city }) => city))].slice(0, CITIES);

/** Gives numbers below a limit, the same ones in each run. */
function numbers(): (limit: number) => number {
  let seed = 1;
  return (limit) => (seed = (seed * 48_271) % 2_147_483_647) % limit;
}

type Typo = (name: string, below: (limit: number) => number) => string;

function letters(name: string): number[] {
  return [...name.split("").keys()].filter((at) => at > 0 && name[at] !== " ");
}

function oneOf<T>(list: readonly T[], below: (limit: number) => number): T | undefined {
  return list[below(list.length)];
}

function beside(key = ""): string {
  const row = KEYS.find((keys) => keys.includes(key)) ?? "";
  return row[row.indexOf(key) + 1] ?? row.at(-2) ?? key;
}

const doubled: Typo = (name, below) => {
  const at = oneOf(letters(name), below) ?? 0;
  return name.slice(0, at) + name[at] + name.slice(at);
};
const swapped: Typo = (name, below) => {
  const unlike = letters(name).filter((at) => ![undefined, " ", name[at]].includes(name[at + 1]));
  const at = oneOf(unlike, below) ?? 0;
  return name.slice(0, at) + name[at + 1] + name[at] + name.slice(at + 2);
};
const neighbour: Typo = (name, below) => {
  const at = oneOf(letters(name), below) ?? 0;
  return name.slice(0, at) + beside(name[at]) + name.slice(at + 1);
};
const missing: Typo = (name, below) => {
  const at = oneOf(letters(name), below) ?? 0;
  return name.slice(0, at) + name.slice(at + 1);
};
const firstWrong: Typo = (name) => beside(name[0]) + name.slice(1);
const firstMissing: Typo = (name) => name.slice(1);
const firstSwapped: Typo = ([first = "", second = "", ...rest]) => second + first + rest.join("");

const single = { doubled, swapped, neighbour, missing, firstWrong, firstMissing, firstSwapped };
const within = [doubled, swapped, neighbour, missing];
const two: Typo = (name, below) => {
  const [one, other] = [oneOf(Object.values(single), below), oneOf(within, below)];
  return other?.(one?.(name, below) ?? name, below) ?? name;
};
/** Of seven letters of ten, four at least. */
const begun: Typo = (name, below) => {
  const beginning = name.slice(0, Math.max(4, Math.ceil(name.length * 0.7)));
  return oneOf(within, below)?.(beginning, below) ?? name;
};

function isFound(city: CityPlace, typed: string): boolean {
  return find(typed)
    .slice(0, 3)
    .some(({ place }) => place === city || place.id === city.id || isAirportOf(city, place.id));
}

function isAirportOf({ airports }: CityPlace, id: string): boolean {
  return airports.some((airport) => airport.id === id);
}

function share(typo: Typo): number {
  const below = numbers();
  const found = cities.filter((city) => isFound(city, typo(foldForSearch(city.name), below)));
  return found.length / cities.length;
}

describe("of the 200 busiest cities, the first three results have", () => {
  it("95 % with one typo", () => {
    const shares = Object.values(single).map(share);
    expect(shares.reduce((sum, one) => sum + one, 0) / shares.length).toBeGreaterThan(0.95);
    expect(Math.min(...shares)).toBeGreaterThan(0.88);
  });

  it("80 % with two typos", () => {
    expect(share(two)).toBeGreaterThanOrEqual(0.8);
  });

  it("80 % with a typo in a name that is only begun", () => {
    expect(share(begun)).toBeGreaterThanOrEqual(0.8);
  });
});
