import { cityNames, otherNames, servedPlaces } from "../../web/build/search-files.ts";
import { suggestionFiles } from "../../web/build/suggestions.ts";

/** The static assets of which the service suggests places, by path. */
export function searchAssets(): Promise<ReadonlyMap<string, Uint8Array>> {
  return suggestionFiles({ served: servedPlaces(), names: otherNames(), cities: cityNames() });
}

/** Reads them as the Worker does. */
export function readerOf(files: ReadonlyMap<string, Uint8Array>) {
  return async (path: string): Promise<ArrayBuffer> => {
    const bytes = files.get(path);
    if (bytes === undefined) throw new Error(`there is no ${path}`);
    return Uint8Array.from(bytes).buffer;
  };
}
