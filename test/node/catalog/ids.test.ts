import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  airportId,
  cityId,
  compareIds,
  countryId,
  idKey,
  idText,
  regionId,
} from "../../../src/catalog/ids.ts";
import { originOfId } from "../../../src/catalog/id-origin.ts";

describe("ids", () => {
  it.each([
    { id: airportId("4439"), text: "d6c5e9f2-5c0b-8d0e-8001-000000004439" },
    { id: airportId("1000000005"), text: "d6c5e9f2-5c0b-8d0e-8001-001000000005" },
    { id: cityId("geonames:3173435"), text: "d6c5e9f2-5c0b-8d0e-9002-000003173435" },
    { id: cityId("ourairports:SB-WE:munda"), text: "d6c5e9f2-5c0b-8d0e-9001-003fc3a32c1e" },
    { id: countryId("NA"), text: "d6c5e9f2-5c0b-8d0e-a003-000000004e41" },
    { id: regionId("iso3166-1:AI"), text: "d6c5e9f2-5c0b-8d0e-b003-000000004149" },
    { id: regionId("iso3166-2:FR-OCC"), text: "d6c5e9f2-5c0b-8d0e-b004-0046524f4343" },
    { id: regionId("iso3166-2:TW-X-KM"), text: "d6c5e9f2-5c0b-8d0e-b004-005457584b4d" },
    { id: regionId("m49:029"), text: "d6c5e9f2-5c0b-8d0e-b005-000000000029" },
    { id: regionId("travel:benelux"), text: "d6c5e9f2-5c0b-8d0e-b006-00f6c3a7cfb4" },
  ])("never change, because clients keep them: $text", ({ id, text }) => {
    expect(idText(id)).toBe(text);
  });

  it("accept a code of any length, and no unknown source", () => {
    expect(idText(regionId("iso3166-2:XX-LONGCODE"))).toMatch(/^d6c5e9f2-5c0b-8d0e-b004-00/);
    expect(() => regionId("geonames:1")).toThrow("geonames:1 is no key");
    expect(() => cityId("m49:1")).toThrow("m49:1 is no key");
    expect(() => airportId("4a")).toThrow('"4a" is no number');
  });

  it("have 16 bytes of their own that no other id shares", () => {
    const ids = Array.from({ length: 2_000 }, (_, n) => airportId(String(n + 1)));
    const keys = ids.map(idKey);
    expect(new Set(keys).size).toBe(ids.length);
    for (const id of ids) {
      expect(id).toHaveLength(16);
      id.fill(0);
    }
    expect(ids.map((_, n) => idKey(airportId(String(n + 1))))).toEqual(keys);
  });
});

describe("originOfId", () => {
  it.each([
    [airportId("4439"), "OurAirports 4439"],
    [airportId("1000000005"), "our own list, 1000000005"],
    [cityId("geonames:3173435"), "GeoNames 3173435"],
    [cityId("ourairports:SB-WE:munda"), "a municipality of OurAirports"],
    [countryId("FR"), "ISO 3166-1 FR"],
    [regionId("iso3166-1:AI"), "ISO 3166-1 AI"],
    [regionId("iso3166-2:FR-OCC"), "ISO 3166-2 FR-OCC"],
    [regionId("iso3166-2:XX-LONGCODE"), "a subdivision of OurAirports"],
    [regionId("m49:029"), "UN M49 029"],
    [regionId("travel:benelux"), "our own list of travel regions"],
  ])("returns the origin of an entity: case %#", (id, origin) => {
    expect(originOfId(idText(id))).toBe(origin);
  });

  it("returns nothing for other UUIDs", () => {
    expect(originOfId("344e8e3a-d2d9-55f2-81d0-3587f4860fbb")).toBeUndefined();
    expect(originOfId("")).toBeUndefined();
  });
});

describe("compareIds", () => {
  const anyId = fc.uint8Array({ minLength: 16, maxLength: 16 });

  it("orders ids as their hexadecimal texts are ordered", () => {
    fc.assert(
      fc.property(anyId, anyId, (a, b) => {
        const [x, y] = [idKey(a), idKey(b)];
        expect(Math.sign(compareIds(a, b))).toBe(x < y ? -1 : Number(x > y));
      }),
    );
  });

  it("compares the last byte as well", () => {
    const low = new Uint8Array(16);
    const high = new Uint8Array(16);
    high[15] = 1;
    expect(compareIds(low, high)).toBeLessThan(0);
    expect(compareIds(high, low)).toBeGreaterThan(0);
    expect(compareIds(low, low.slice())).toBe(0);
  });
});
