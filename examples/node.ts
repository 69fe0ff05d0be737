/**
 * Asks the service from Node and joins the lists of its answer:
 *
 *   node examples/node.ts [URL] [LOCALE] [IATA]
 */
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { LocationsService, type Uuid } from "../gen/locations/v1/locations_pb.ts";

const [baseUrl = "http://127.0.0.1:8787", locale = "de", iata = "MUC"] = process.argv.slice(2);

const transport = createConnectTransport({ baseUrl, httpVersion: "1.1" });
const client = createClient(LocationsService, transport);

/** Ids are joined by their bytes. */
function key(id: Uuid | undefined): string {
  return id === undefined ? "" : Buffer.from(id.value).toString("hex");
}

let header = new Headers();
try {
  const catalog = await client.getLocationsV1(
    { locale },
    { timeoutMs: 10_000, onHeader: (received) => (header = received) },
  );
  const airport = catalog.airports.find((one) => one.iata === iata);
  if (airport === undefined) throw new Error(`There is no airport ${iata}.`);
  const city = catalog.cities.find((one) => key(one.id) === key(airport.cityId));
  const country = catalog.countries.find((one) => key(one.id) === key(city?.countryId));
  const regions = catalog.regions.filter((one) => one.airportIataCodes.includes(iata));

  console.log(`${catalog.airports.length} airports, version ${header.get("catalog-version")}`);
  console.log(`${airport.iata}: ${airport.name}, ${city?.name}, ${country?.nameEng}`);
  console.log(`Regions in ${header.get("content-language")}:`);
  for (const region of regions) console.log(`  ${region.nameLocalized}`);
} catch (error) {
  const { code, rawMessage } = ConnectError.from(error);
  console.error(`${Code[code]}: ${rawMessage}`);
  if (code === Code.Unavailable) console.error("Try again in a moment.");
  process.exitCode = 1;
}
