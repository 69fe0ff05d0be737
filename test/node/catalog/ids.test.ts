import { createHash } from "node:crypto";
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

/** UUIDv5 as RFC 9562, section 5.5, describes it, without the library under test. */
function uuidV5(name: string): string {
  const namespace = Buffer.from("d6c5e9f25c0b4d0e9a392f6f5f3b8a41", "hex");
  const hash = createHash("sha1").update(namespace).update(name, "ascii").digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return hash.subarray(0, 16).toString("hex");
}

describe("ids", () => {
  it.each([
    { id: airportId("4439"), name: "airport:ourairports:4439" },
    { id: cityId("geonames:3173435"), name: "city:geonames:3173435" },
    { id: cityId("ourairports:SB-WE:munda"), name: "city:ourairports:SB-WE:munda" },
    { id: countryId("FR"), name: "country:iso3166-1:FR" },
    { id: regionId("m49:150"), name: "region:m49:150" },
    { id: regionId("iso3166-2:FR-OCC"), name: "region:iso3166-2:FR-OCC" },
  ])("are the UUIDv5 of the catalog's namespace and $name", ({ id, name }) => {
    expect(idKey(id)).toBe(uuidV5(name));
  });

  it("are the same for ever: clients keep them", () => {
    expect(idKey(airportId("3"))).toBe("344e8e3ad2d955f281d03587f4860fbb");
    expect(idKey(countryId("NA"))).toBe("c87433bb65d757c2a5b24028fe04ea43");
    expect(idKey(regionId("m49:029"))).toBe("753e6bff59cc5cf58f5ba9e031b5f15a");
  });

  it("have 16 bytes of their own, which no other id shares", () => {
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

describe("idText", () => {
  it("is the UUID as RFC 9562 writes it", () => {
    expect(idText(airportId("3"))).toBe("344e8e3a-d2d9-55f2-81d0-3587f4860fbb");
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

  it("looks at the last byte too", () => {
    const low = new Uint8Array(16);
    const high = new Uint8Array(16);
    high[15] = 1;
    expect(compareIds(low, high)).toBeLessThan(0);
    expect(compareIds(high, low)).toBeGreaterThan(0);
    expect(compareIds(low, low.slice())).toBe(0);
  });
});
