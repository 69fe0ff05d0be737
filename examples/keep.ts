/**
 * Keeps the catalog in a folder, brings it up to date and finds places in it, offline too:
 *
 *   npx node examples/keep.ts FOLDER TEXT [URL] [LOCALE]
 */
import { openCatalog } from "../client/src/node.ts"; // "locations-at-the-edge-client" elsewhere

const [
  folder = ".wrangler/keep",
  text = "münchen",
  baseUrl = "http://127.0.0.1:8787",
  locale = "de",
] = process.argv.slice(2);

const catalog = await openCatalog({ baseUrl, locale, folder });
await catalog.refresh().catch((error: Error) => console.error(error.message));
const { airports } = await catalog.places();
console.log(`${airports.length} airports, version ${catalog.version}`);
for (const place of await catalog.search(text))
  console.log(`${place.name} · ${place.where} · ${place.airports.join(" ")}`);
