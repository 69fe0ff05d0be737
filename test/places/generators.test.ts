/** What others make of `/openapi.json`: a linter, and a generator of clients that is not ours. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type App, run, testPlaces } from "./place.ts";

/** The last lines do not type-check. */
const PROGRAM = `import createClient from "openapi-fetch";
import type { paths } from "./api.ts";

const client = createClient<paths>({ baseUrl: process.argv[2] ?? "" });
const method = "/locations.v1.LocationsService/GetLocationsV1";
const message = JSON.stringify({ locale: "de" });
const posted = await client.POST(method, { body: { locale: "de" } });
const got = await client.GET(method, { params: { query: { encoding: "json", message } } });
const { data: ranks } = await client.GET("/search/v1/ranks.json");
const { data: health } = await client.GET("/catalog/health");
const { error } = await client.POST(method, { body: { locale: "?" } });
if (JSON.stringify(posted.data) !== JSON.stringify(got.data)) throw new Error("two answers");
if (error?.code !== "invalid_argument" || health === undefined) throw new Error("no answer");
const airport = posted.data?.airports.find(({ iata }) => iata === "MUC");
if (!ranks?.airports.includes(airport?.iata ?? "")) throw new Error("no rank");
const city = posted.data?.cities.find(({ id }) => id.value === airport?.cityId.value);
const country = posted.data?.countries.find(({ id }) => id.value === city?.countryId.value);
console.log(city?.name, country?.isoCode2, airport?.lat);

// @ts-expect-error a locale is text
void (() => client.POST(method, { body: { locale: 7 } }));
// @ts-expect-error a GET needs its message
void (() => client.GET(method, { params: { query: { encoding: "json" } } }));
`;

const TSCONFIG = {
  compilerOptions: {
    target: "es2022",
    module: "nodenext",
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    types: ["node"],
  },
  files: ["program.ts"],
};

testPlaces([
  {
    name: "openapi-typescript 7.13.0 with openapi-fetch 0.17.0, after Redocly has no complaint",
    packages: {
      "@redocly/cli": "2.77.0",
      "@types/node": "24.19.2",
      node: "24.21.0",
      "openapi-fetch": "0.17.0",
      "openapi-typescript": "7.13.0",
      typescript: "5.9.3",
    },
    files: { "program.ts": PROGRAM, "tsconfig.json": JSON.stringify(TSCONFIG) },
    async enter({ folder, service }: App) {
      const document = await (await fetch(`${service}/openapi.json`)).text();
      writeFileSync(join(folder, "openapi.json"), document);
      const verdict = await run(folder, "redocly", "lint", "openapi.json");
      await run(folder, "openapi-typescript", "openapi.json", "--output=api.ts");
      await run(folder, "tsc");
      return `${verdict} ${await run(folder, "node", "program.ts", service)}`;
    },
    // With a warning, it says how many there are.
    shows: /^Woohoo! Your API description is valid\. \S+ Munich DE 48\.\d+$/,
  },
]);
