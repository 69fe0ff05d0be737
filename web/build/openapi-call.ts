/** The operations besides the routes of `src/admin/`: the one call as plain HTTP, and the search's files. */
import { CITY_NAME_LOCALES } from "../../client/src/search/city-names.ts";
import type { ZodOpenApiOperationObject } from "zod-openapi";
import { METHOD_PATH } from "../../src/rpc/request.ts";
import type { contractSchemas } from "./contract-schemas.ts";

type Schema = NonNullable<ReturnType<typeof contractSchemas>[string]>;

const text = { type: "string" } as const satisfies Schema;
const texts = { type: "array", items: text } as const satisfies Schema;
const integers = { type: "array", items: { type: "integer" } } as const satisfies Schema;
const rows = { type: "array", items: texts } as const satisfies Schema;
const byKey = (description: string, items: Schema = text): Schema => ({
  type: "object",
  additionalProperties: items,
  description,
});
const columns = (properties: { readonly [name: string]: Schema }): Schema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
});

const CLOSED: Schema = {
  type: "array",
  description: "Closed airports, which lead to those that have their flights.",
  items: {
    type: "object",
    properties: {
      iata: { ...text, description: "Empty where another airport has the code today." },
      name: text,
      names: { ...texts, description: "What else travellers type." },
      year: { type: "integer", description: "In which the flights moved." },
      successor: { ...text, description: "IATA code of the airport that has them." },
    },
    required: ["iata", "name", "names", "year", "successor"],
  },
};

const TIME_ZONES: Schema = {
  ...columns({
    countries: byKey(
      "IANA names by two-letter code of the city's country, with spaces between them.",
    ),
    airports: {
      ...text,
      description: "Positions among them, a digit of base 36 each, the busiest airport first.",
    },
  }),
  description: "The time zones of the airports with scheduled service.",
};

/** The schemas that the operations refer to. */
const CALL_SCHEMAS: { readonly [name: string]: Schema } = {
  CallError: {
    type: "object",
    description: "An error of Connect.",
    properties: {
      code: { ...text, description: "Stable word for programs.", examples: ["invalid_argument"] },
      message: { ...text, description: "The problem and the remedy." },
      details: {
        type: "array",
        description: "Messages of google.rpc: RetryInfo, or BadRequest for a malformed locale.",
        items: {
          type: "object",
          properties: {
            type: text,
            value: { ...text, description: "The message in protobuf and base64, without padding." },
            debug: { description: "The same in protobuf's JSON." },
          },
          required: ["type", "value"],
        },
      },
    },
    required: ["code", "message"],
  },
  SearchRanks: {
    type: "object",
    description: "Which airports and cities are the important ones, and what travellers call them.",
    properties: {
      airports: {
        ...texts,
        description: "IATA codes of the airports with scheduled service, the busiest first.",
      },
      tiers: { ...text, description: "A digit for each: 0 large, 1 medium, 2 small." },
      names: byKey("Names that travellers use, by IATA code."),
      cities: { ...texts, description: "Ids of large cities, the most populous first." },
      codes: byKey("Ids of cities, by their codes, such as LON."),
      apart: {
        ...texts,
        description: "Ids of cities that no source but their airports puts into a subdivision.",
      },
      closed: CLOSED,
      timeZones: TIME_ZONES,
    },
    required: ["airports", "tiers", "names", "cities", "codes", "closed", "timeZones"],
  },
  SearchNames: {
    type: "object",
    description: "Other names, in lower case, without accents, with | between them.",
    properties: {
      airports: byKey("By IATA code."),
      cities: byKey("By id."),
      local: byKey("In the script of the country, of an airport and its city, by IATA code."),
      regions: byKey("By slug."),
      regionCodes: byKey("Codes of subdivisions, such as ME for Maine, by slug."),
      nearby: {
        ...columns({
          names: {
            ...texts,
            description: "The place's own as it is written, and | and the others.",
          },
          lat: { ...integers, description: "Hundredths of a degree." },
          lon: { ...integers, description: "Hundredths of a degree." },
          airports: { ...texts, description: "IATA codes, with spaces between them." },
        }),
        description: "Places without an airport, a value for each in each list.",
      },
    },
    required: ["airports", "cities", "regions", "regionCodes"],
  },
  SearchCities: {
    ...columns({
      airports: {
        ...text,
        description: "IATA codes of an airport of each city, three letters each.",
      },
      names: { ...text, description: "With | between them." },
    }),
    description: "What readers of a locale call cities that they do not name as in English.",
  },
  SearchServed: {
    ...columns({
      airports: columns({
        ids: {
          ...text,
          description:
            "UUIDs with spaces between them. Of those that begin as the first one does, only the last digits, without zeros before them.",
        },
        iata: { ...text, description: "Three letters each, the busiest first." },
        icao: { ...text, description: "With spaces between them." },
        names: { ...texts, description: "Official names; `*` stands for the city's." },
        tiers: { ...text, description: "A digit each, as in SearchRanks." },
        lat: { ...integers, description: "Hundredths of a degree." },
        lon: { ...integers, description: "Hundredths of a degree." },
        cities: { ...integers, description: "Positions in `cities`." },
      }),
      cities: columns({
        ids: { ...text, description: "As those of airports." },
        names: texts,
        countries: { ...text, description: "Two letters each." },
        ranked: { type: "integer", description: "So many come first, the most populous first." },
        apart: { ...integers, description: "Positions of those in `apart` of SearchRanks." },
      }),
      countries: {
        ...rows,
        description: "Id, two-letter code, three-letter code, English and native name of each.",
      },
      regions: {
        ...rows,
        description: "Id, slug and English name of each that tells apart cities of one name.",
      },
      members: {
        type: "array",
        items: integers,
        description: "Positions of the airports of each region.",
      },
      names: byKey("Names that travellers use, by IATA code; `*` stands for the city's."),
      codes: byKey("Positions of cities, by their codes, such as LON.", { type: "integer" }),
      closed: CLOSED,
      timeZones: TIME_ZONES,
    }),
    description:
      "The airports with scheduled service, their cities and countries: a list for each field, whose values have the order of the places.",
  },
};

const ref = (name: keyof typeof CALL_SCHEMAS) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: object) => ({ "application/json": { schema } });

const headers = (described: { readonly [name: string]: string }) =>
  Object.fromEntries(
    Object.entries(described).map(([name, description]) => [name, { description, schema: text }]),
  );

const OF_CATALOG = headers({
  "Catalog-Version": "Generation of the catalog; it only rises.",
  "Catalog-Sha256": "SHA-256 of the catalog in this language; `v` takes it.",
  "Content-Language": "The locale of the answer.",
  "Locale-Fallback": "`parent` or `default`, if that is not the locale of the request.",
  "Last-Modified": "When it was published.",
});
const OF_CACHES = headers({
  ETag: "Send it in If-None-Match to ask whether the answer is still the same.",
  "Cache-Control": "How long the answer may be reused.",
});

const failed = (description: string, more: object = {}) => ({
  description,
  content: json(ref("CallError")),
  ...more,
});

/** The problems of the call in either method. */
const ERRORS = {
  400: failed("`invalid_argument`: a malformed locale, message or timeout"),
  404: failed("`not_found`: no retained version has the hash in `v`"),
  429: failed("`resource_exhausted`: the request is larger than 4 KiB"),
  500: failed("`data_loss`: every copy is damaged; `internal`: a bug"),
  503: failed("`unavailable`: nothing is published, or no store answers", {
    headers: headers({ "Retry-After": "Seconds to wait before the next try." }),
  }),
  504: failed("`deadline_exceeded`: the client's timeout has passed"),
};

const PIN = {
  name: "v",
  in: "query",
  schema: { type: "string", pattern: "^[0-9a-f]{64}$" },
  description: "`Catalog-Sha256` of the version to answer from; without it, the current one.",
} as const;

const TIMEOUT = {
  name: "Connect-Timeout-Ms",
  in: "header",
  schema: { type: "string", pattern: String.raw`^\d{1,10}$` },
  description: "After how many milliseconds the client gives up.",
} as const;

const DESCRIPTION =
  "All airports, cities, countries and regions in one answer of 3.5 MB, 0.5 with brotli. Protobuf's JSON leaves out a number that is 0 and a code that is empty.";

const CALL: { readonly [method: string]: ZodOpenApiOperationObject } = {
  post: {
    operationId: "getLocationsV1",
    summary: "The whole catalog in one language",
    description: DESCRIPTION,
    parameters: [PIN, TIMEOUT],
    requestBody: { required: true, content: json(ref("LocationsRequest")) },
    responses: {
      200: {
        description: "The catalog",
        headers: { ...OF_CATALOG, ...OF_CACHES },
        content: json(ref("LocationsResponse")),
      },
      ...ERRORS,
      415: { description: "No JSON in UTF-8, without a body" },
      501: failed("`unimplemented`: the request is compressed"),
    },
  },
  get: {
    operationId: "queryLocationsV1",
    summary: "The whole catalog in one language, for caches",
    description: `${DESCRIPTION} Browsers and shared caches keep it for five minutes, and then ask for what is new.`,
    parameters: [
      {
        name: "connect",
        in: "query",
        schema: { type: "string", const: "v1" },
        description: "The protocol.",
      },
      {
        name: "encoding",
        in: "query",
        required: true,
        schema: { type: "string", const: "json" },
        description: "The codec of the message and of the answer.",
      },
      {
        name: "message",
        in: "query",
        required: true,
        schema: { type: "string", examples: ['{"locale":"de"}'] },
        description: "A LocationsRequest as JSON.",
      },
      PIN,
      TIMEOUT,
    ],
    responses: {
      200: {
        description: "The catalog",
        headers: { ...OF_CATALOG, ...OF_CACHES },
        content: json(ref("LocationsResponse")),
      },
      304: { description: "The catalog matches the ETag that was sent", headers: OF_CACHES },
      ...ERRORS,
      412: failed("`failed_precondition`: If-Match or If-Unmodified-Since does not hold"),
      415: { description: "No message or no encoding, without a body" },
    },
  },
};

function file(operationId: string, schema: string, summary: string): ZodOpenApiOperationObject {
  const description = `For a search over the catalog. ${String(CALL_SCHEMAS[schema]?.description)} Fresh for a day.`;
  const responses = {
    200: { description: "The file", headers: OF_CACHES, content: json(ref(schema)) },
    304: { description: "The file matches the ETag that was sent", headers: OF_CACHES },
    405: { description: "The method is neither GET nor HEAD, without a body" },
  };
  return { operationId, summary, description, responses };
}

/** Without tags and credentials, which all public operations share. */
export const OUTSIDE_ROUTES: {
  readonly paths: {
    readonly [path: string]: { readonly [method: string]: ZodOpenApiOperationObject };
  };
  readonly schemas: { readonly [name: string]: Schema };
} = {
  paths: {
    [METHOD_PATH]: CALL,
    "/search/v1/ranks.json": {
      get: file("getSearchRanks", "SearchRanks", "Ranks of airports and cities"),
    },
    "/search/v1/names.json": {
      get: file("getSearchNames", "SearchNames", "Other names of airports, cities and regions"),
    },
    "/search/v1/served.json": {
      get: file("getSearchServed", "SearchServed", "What a picker of airports needs"),
    },
    "/search/v1/cities/{locale}.json": {
      get: {
        ...file("getSearchCities", "SearchCities", "Names of the busiest cities in a locale"),
        parameters: [
          {
            name: "locale",
            in: "path",
            required: true,
            schema: { type: "string", enum: CITY_NAME_LOCALES },
          },
        ],
      },
    },
  },
  schemas: CALL_SCHEMAS,
};
