import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { beforeEach, describe, expect, it } from "vitest";
import { type CatalogCopy, refresh } from "../src/refresh.ts";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import { diffCatalogs } from "../../src/catalog/diff.ts";
import type { Catalog } from "../../src/catalog/model.ts";
import { aCatalog, aMilan, anAirport } from "../../test/builders/catalog.ts";
import { CatalogService } from "../../test/builders/catalog-service.ts";
import { aLocationsResponse } from "../../test/builders/locations-response.ts";

const BASE_URL = "https://locations.example.com";
const milan = { cityId: aMilan().id };
const EARLIER = aCatalog({ airports: [anAirport({ ...milan, iata: "LIN" }), anAirport()] });
const LATER = aCatalog({
  airports: [
    anAirport({ ...milan, iata: "LIN", name: "Linate" }),
    anAirport({ ...milan, id: aMilan().id, iata: "MXP" }),
    anAirport(),
  ],
});

function bytesOf(catalog: Catalog): Uint8Array<ArrayBuffer> {
  return toBinary(LocationsResponseSchema, aLocationsResponse(catalog));
}

const [earlier, later] = [bytesOf(EARLIER), bytesOf(LATER)];
const DIFF = { locale: "en", ...diffCatalogs({ before: earlier, after: () => [later] }) };

let service: CatalogService;
let copy: CatalogCopy;

function refreshed(from?: CatalogCopy): Promise<CatalogCopy> {
  return refresh({ baseUrl: BASE_URL, locale: "en", fetch: service.fetch }, from);
}

beforeEach(async () => {
  service = new CatalogService({ version: 1, bytes: earlier });
  copy = await refreshed();
  service.takeCalls();
});

describe("a copy of the catalog", () => {
  it("holds the answer as it came, with its version and language", () => {
    expect(copy).toMatchObject({ bytes: earlier, version: 1, language: "en" });
  });

  it("stays the same while the service has nothing newer", async () => {
    expect(await refreshed(copy)).toBe(copy);
    expect(service.takeCalls()).toEqual(["HEAD GetLocationsV1"]);
  });

  it("keeps its bytes when the same content is published again", async () => {
    service.served = { version: 2, bytes: earlier };
    const current = await refreshed(copy);
    expect(current).toEqual({ ...copy, version: 2 });
    expect(service.takeCalls()).toEqual(["HEAD GetLocationsV1"]);
  });

  it("becomes the newer version by the diff alone", async () => {
    service.served = { version: 2, bytes: later };
    service.diff = DIFF;
    expect((await refreshed(copy)).bytes).toEqual(later);
    expect(service.takeCalls()).toEqual(["HEAD GetLocationsV1", "GET diff"]);
  });

  it("stays when a location of the service has not seen its version yet", async () => {
    const newer = { ...copy, version: 3 };
    expect(await refreshed(newer)).toBe(newer);
    expect(service.takeCalls()).toEqual(["HEAD GetLocationsV1"]);
  });

  it("gets the whole catalog when there is no diff from it", async () => {
    service.served = { version: 2, bytes: later };
    expect((await refreshed(copy)).bytes).toEqual(later);
    expect(service.takeCalls()).toEqual(["HEAD GetLocationsV1", "GET diff", "GET GetLocationsV1"]);
  });

  it.each([
    ["is of another language", { ...DIFF, locale: "de" }],
    ["leads elsewhere", { ...DIFF, airports: DIFF.cities }],
    ["lacks a list", { locale: "en", airports: DIFF.airports }],
    ["has a list of another form", { ...DIFF, airports: { upserted: [{}] } }],
    ["has a value of another type", withAfter({ name: 5 })],
    ["is no object", "later"],
  ])("gets the whole catalog when the diff %s", async (_, diff) => {
    service.served = { version: 2, bytes: later };
    service.diff = diff;
    expect((await refreshed(copy)).bytes).toEqual(later);
    expect(service.takeCalls()).toContain("GET GetLocationsV1");
  });

  it("rejects bytes that are not those that the service has named", async () => {
    const damaged: typeof fetch = async (input, init) => {
      const { headers } = await service.fetch(input, init);
      return new Response(later, { headers });
    };
    await expect(refresh({ baseUrl: BASE_URL, fetch: damaged })).rejects.toThrow("damaged");
  });

  it.each(["catalog-version", "catalog-sha256"])(
    "is not taken for the current one where something on the way drops %s",
    async (name) => {
      const dropping: typeof fetch = async (input, init) => {
        const answer = await service.fetch(input, init);
        answer.headers.delete(name);
        return answer;
      };
      const refreshing = refresh({ baseUrl: BASE_URL, locale: "en", fetch: dropping }, copy);
      await expect(refreshing).rejects.toMatchObject({ code: "unavailable" });
    },
  );

  it("remains usable when the service does not answer", async () => {
    service.isDown = true;
    await expect(refreshed(copy)).rejects.toMatchObject({ code: "unavailable" });
  });

  it("fails with the reason of a signal that ends the download", async () => {
    const reason = new Error("the page was left");
    const signal = AbortSignal.abort(reason);
    const aborted: typeof fetch = () => Promise.reject(reason);
    await expect(refresh({ baseUrl: BASE_URL, fetch: aborted, signal })).rejects.toBe(reason);
  });
});

describe("a copy in another language", () => {
  const NAMES = new Map([["iso3166-2:CH-ZH", { name: "Zürich-Land", slug: "zuerich-land-ch" }]]);
  const inGerman = (catalog: Catalog) =>
    toBinary(LocationsResponseSchema, aLocationsResponse(catalog, NAMES));
  const german = inGerman(EARLIER);
  const PACKED = { letters: [["ü", "ue"]], names: ["", "Zürich-Land"], slugs: {} };
  const WHOLE = ["HEAD GetLocationsV1", "GET names", "GET GetLocationsV1"];

  function translated(): Promise<CatalogCopy> {
    return refresh({ baseUrl: BASE_URL, locale: "de", fetch: service.fetch }, copy);
  }

  beforeEach(() => {
    service.served = { version: 1, bytes: earlier, others: { de: german } };
    service.names = PACKED;
  });

  it("becomes the wanted one by the names alone", async () => {
    expect(await translated()).toMatchObject({ bytes: german, version: 1, language: "de" });
    expect(service.takeCalls()).toEqual(["HEAD GetLocationsV1", "GET names"]);
    expect(copy.bytes).toEqual(earlier);
  });

  it("becomes that of a newer version by the diff in its own language, and the names", async () => {
    const newer = inGerman(LATER);
    service.served = { version: 2, bytes: later, others: { de: newer } };
    service.diff = DIFF;
    expect(await translated()).toMatchObject({ bytes: newer, version: 2, language: "de" });
    expect(service.takeCalls()).toEqual(["HEAD GetLocationsV1", "GET diff", "GET names"]);
  });

  it("has only another language where both have the same names", async () => {
    service.served = { version: 1, bytes: earlier };
    expect(await translated()).toMatchObject({ bytes: earlier, language: "de" });
    expect(service.takeCalls()).toEqual(["HEAD GetLocationsV1"]);
  });

  it.each([
    ["of a service without them", undefined],
    ["of another language", { ...PACKED, names: ["", "Zurich"] }],
    ["of other regions", { ...PACKED, names: ["Zürich-Land", ""] }],
    ["of fewer regions", { ...PACKED, names: [""] }],
    ["without a spelling", { ...PACKED, letters: [] }],
    ["of another form", { names: PACKED.names }],
    ["that are none", null],
  ])("is replaced by the whole catalog for names %s", async (_, names) => {
    service.names = names;
    expect(await translated()).toMatchObject({ bytes: german, version: 1, language: "de" });
    expect(service.takeCalls()).toEqual(WHOLE);
  });

  it("is replaced by the whole catalog when there is no diff from its version", async () => {
    service.served = { version: 2, bytes: later, others: { de: inGerman(LATER) } };
    expect(await translated()).toMatchObject({ bytes: inGerman(LATER), version: 2 });
    const [head, ...rest] = WHOLE;
    expect(service.takeCalls()).toEqual([head, "GET diff", ...rest]);
  });

  it("is replaced at a location of the service that has not seen its version yet", async () => {
    copy = { ...copy, version: 3 };
    expect(await translated()).toMatchObject({ bytes: german, version: 1, language: "de" });
    expect(service.takeCalls()).toEqual(["HEAD GetLocationsV1", "GET GetLocationsV1"]);
  });

  it("does not stand for the wanted one when the service does not answer", async () => {
    service.isDown = true;
    await expect(translated()).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("a contract that has gained a field and an enum", () => {
  /** As the later service encodes it: fields 1008 and 1009 of an airport are a number and an enum. */
  const withNewFields = (message: Uint8Array) => {
    const answer = fromBinary(LocationsResponseSchema, message);
    const [linate] = answer.airports;
    if (linate !== undefined)
      linate.$unknown = [108, 1].map((value, at) => ({
        no: 1008 + at,
        wireType: WireType.Varint,
        data: Uint8Array.of(value),
      }));
    return toBinary(LocationsResponseSchema, answer);
  };
  const inLater = withNewFields(later);

  it("parses as the contract of before", async () => {
    expect(inLater).not.toEqual(later);
    service.served = { version: 2, bytes: inLater };
    const { bytes } = await refreshed();
    const { airports } = fromBinary(LocationsResponseSchema, bytes);
    expect(airports.map(({ iata, name }) => [iata, name])).toContainEqual(["LIN", "Linate"]);
  });

  it("makes a client download the whole catalog when a diff changes what it does not know", async () => {
    service.served = { version: 2, bytes: inLater };
    service.diff = withAfter({
      name: "Linate",
      elevation: 108,
      kind: "AIRPORT_KIND_SEAPLANE_BASE",
    });
    expect((await refreshed(copy)).bytes).toEqual(inLater);
    expect(service.takeCalls()).toEqual(["HEAD GetLocationsV1", "GET diff", "GET GetLocationsV1"]);
  });

  it("needs no download for another language", async () => {
    service.served = { version: 1, bytes: withNewFields(earlier) };
    const english = await refreshed();
    service.names = { letters: [], names: ["Europa", ""], slugs: {} };
    const europe = new Map([["m49:150", { name: "Europa", slug: "europa" }]]);
    const german = aLocationsResponse(EARLIER, europe);
    const bytes = withNewFields(toBinary(LocationsResponseSchema, german));
    service.served = { version: 1, bytes: withNewFields(earlier), others: { de: bytes } };
    service.takeCalls();
    const source = { baseUrl: BASE_URL, locale: "de", fetch: service.fetch };
    expect((await refresh(source, english)).bytes).toEqual(bytes);
    expect(service.takeCalls()).toEqual(["HEAD GetLocationsV1", "GET names"]);
  });

  it("needs no download when a diff only mentions what a client does not know", async () => {
    service.served = { version: 2, bytes: later };
    service.diff = {
      ...withAfter({ name: "Linate", elevation: 0, kind: "AIRPORT_KIND_UNSPECIFIED" }),
      ports: { added: [], changed: [], removed: [] },
      reason: "REASON_OF_TOMORROW",
    };
    expect((await refreshed(copy)).bytes).toEqual(later);
    expect(service.takeCalls()).toEqual(["HEAD GetLocationsV1", "GET diff"]);
  });

  it("keeps what a client does not know through a diff that does not touch it", async () => {
    const before = withNewFields(earlier);
    service.served = { version: 1, bytes: before };
    const known = await refreshed();
    service.served = { version: 2, bytes: inLater };
    service.diff = DIFF;
    service.takeCalls();
    expect((await refreshed(known)).bytes).toEqual(inLater);
    expect(service.takeCalls()).toEqual(["HEAD GetLocationsV1", "GET diff"]);
  });
});

/** The diff with other new values of the changed airport. */
function withAfter(after: object) {
  const changed = DIFF.airports.changed.map((change) => ({ ...change, after }));
  return { ...DIFF, airports: { ...DIFF.airports, changed } };
}
