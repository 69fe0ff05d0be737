import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { distanceKm, Nearby, type Spot } from "../../../src/catalog/positions.ts";

const spot = fc.record({
  country: fc.constantFrom("CH", "DE"),
  lat: fc.oneof(
    fc.double({ min: -90, max: 90, noNaN: true }),
    fc.double({ min: 46, max: 49, noNaN: true }),
  ),
  lon: fc.oneof(fc.constantFrom(-180, 180, 179.9), fc.double({ min: 7, max: 9, noNaN: true })),
});

describe("Nearby", () => {
  it("finds what a look at everything finds", () => {
    fc.assert(
      fc.property(
        fc.array(spot),
        spot,
        fc.integer({ min: 1, max: 300 }),
        (spots, centre, maxKm) => {
          const near = (one: Spot) =>
            one.country === centre.country && distanceKm(one, centre) <= maxKm;
          const found = [...new Nearby(spots).within(centre, maxKm)].map((hit) => hit.spot);
          expect(new Set(found)).toEqual(new Set(spots.filter(near)));
          expect(found.length).toBe(spots.filter(near).length);
        },
      ),
    );
  });
});
