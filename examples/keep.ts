/**
 * Keeps the catalog in a file, brings it up to date and finds places in it, offline too:
 *
 *   node examples/keep.ts FILE TEXT [URL] [LOCALE]
 */
import { readFile, rename, writeFile } from "node:fs/promises";
import { deserialize, serialize } from "node:v8";
import { fromBinary } from "@bufbuild/protobuf";
import { LocationsResponseSchema } from "../gen/locations/v1/locations_pb.ts";
import { type CatalogCopy, refresh } from "./catalog/refresh.ts";
import { findPlaces, indexPlaces } from "./catalog/search.ts";

const [file = "catalog.bin", text = "MUC", service = "http://127.0.0.1:8787", locale = "de"] =
  process.argv.slice(2);

const stored = await readCopy();
const current = await refresh({ service, locale }, stored).catch((error: Error) => {
  console.error(`${service}: ${error.message}`);
  return stored;
});
if (current === undefined) process.exit(1);
if (current !== stored) await writeCopy(current);

const catalog = fromBinary(LocationsResponseSchema, current.bytes);
console.log(`${catalog.airports.length} airports, version ${current.version}`);
for (const { name, within, airports } of findPlaces(indexPlaces(catalog), text))
  console.log([name, within, airports.join(" ")].filter((part) => part !== "").join(" · "));

/** Reads the file; undefined if there is none that can be read. */
async function readCopy(): Promise<CatalogCopy | undefined> {
  try {
    return deserialize(await readFile(file)) as CatalogCopy; // as writeCopy wrote it
  } catch {
    return undefined;
  }
}

/** Renames a whole file into place, so that no reader sees half of one. */
async function writeCopy(copy: CatalogCopy): Promise<void> {
  const whole = `${file}.${process.pid}`;
  await writeFile(whole, serialize(copy));
  await rename(whole, file);
}
