/**
 * Asks the service from a page. Build and serve it:
 *
 *   npx esbuild examples/browser/main.js --bundle --format=esm \
 *     --outfile=examples/browser/bundle.js --servedir=examples/browser
 */
import { ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { LocationsService } from "../../gen/locations/v1/locations_pb.ts";

const form = document.querySelector("form");
const output = document.querySelector("output");

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void ask(Object.fromEntries(new FormData(form)));
});

async function ask({ url, locale, iata }) {
  output.textContent = "…";
  try {
    output.textContent = await describe(url, locale, iata);
  } catch (error) {
    output.textContent = ConnectError.from(error).message;
  }
}

async function describe(baseUrl, locale, iata) {
  // GET lets the browser keep the answer, and ask again with its ETag once five minutes have passed.
  const transport = createConnectTransport({ baseUrl, useBinaryFormat: true, useHttpGet: true });
  const client = createClient(LocationsService, transport);
  const { airports, regions } = await client.getLocationsV1({ locale });
  const airport = airports.find((one) => one.iata === iata);
  const names = regions
    .filter((one) => one.airportIataCodes.includes(iata))
    .map((one) => one.nameLocalized);
  return `${airports.length} airports. ${iata}: ${airport?.name ?? "unknown"} (${names.join(", ")})`;
}
