import { Buffer } from "node:buffer";
import { cityNames, otherNames, servedPlaces } from "../../web/build/search-files.ts";
import { suggestionFiles } from "../../web/build/suggestions.ts";

/** The static assets of which the service suggests places, by path. */
export async function searchAssets(): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = new Map(await suggestionFiles(servedPlaces(), otherNames()));
  for (const [locale, file] of cityNames())
    files.set(`search/v1/cities/${locale}.json`, Buffer.from(JSON.stringify(file)));
  return files;
}

/** Reads them as the Worker does. */
export function readerOf(files: ReadonlyMap<string, Uint8Array>) {
  return async (path: string): Promise<ArrayBuffer> => {
    const bytes = files.get(path);
    if (bytes === undefined) throw new Error(`there is no ${path}`);
    return Uint8Array.from(bytes).buffer;
  };
}
