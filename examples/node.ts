/**
 * Calls the service from Node and joins the lists of its answer:
 *
 *   npx node examples/node.ts [URL] [LOCALE] [IATA]
 */
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
// Elsewhere from "locations-at-the-edge-client/join" and "locations-at-the-edge-client/service".
import { joinCatalog } from "../client/src/catalog.ts";
import { LocationsService } from "../gen/locations/v1/locations_pb.ts";

const [baseUrl = "http://127.0.0.1:8787", locale = "de", iata = "MUC"] = process.argv.slice(2);

const transport = createConnectTransport({ baseUrl, httpVersion: "1.1" });
const client = createClient(LocationsService, transport);

let header = new Headers();
try {
  const answer = await client.getLocationsV1(
    { locale },
    { timeoutMs: 10_000, onHeader: (received) => (header = received) },
  );
  const { airports } = await joinCatalog(answer);
  const airport = airports.find((one) => one.iata === iata);
  if (airport === undefined) throw new Error(`There is no airport ${iata}.`);
  const { name, city, regions } = airport;

  console.log(`${airports.length} airports, version ${header.get("catalog-version")}`);
  console.log(`${iata}: ${name}, ${city.name}, ${city.country.name}`);
  console.log(`Regions in ${header.get("content-language")}:`);
  for (const region of regions) console.log(`  ${region.name}`);
} catch (error) {
  const { code, rawMessage } = ConnectError.from(error);
  console.error(`${Code[code]}: ${rawMessage}`);
  if (code === Code.Unavailable) console.error("Try again in a moment.");
  process.exitCode = 1;
}
