import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withDistinctSlugs } from "../../../src/ingest/workspace.ts";
import { checkNames } from "../../../src/catalog/integrity.ts";
import type { RegionNames } from "../../../src/catalog/model.ts";
import { aRegion } from "../../builders/catalog.ts";

const bern = aRegion({ key: "iso3166-2:CH-BE", slug: "bern-ch", name: "Bern" });
const berne = aRegion({ key: "iso3166-2:CH-XX", slug: "berne-ch", name: "Berne" });

describe("withDistinctSlugs", () => {
  it("keeps names in which every region has a slug of its own", () => {
    const names: RegionNames = new Map([[bern.key, { name: "Berna", slug: "berna-ch" }]]);
    expect(withDistinctSlugs([bern, berne], names)).toEqual(names);
  });

  it("gives a region its base slug if another one has the same localized slug", () => {
    const names: RegionNames = new Map([[bern.key, { name: "Berne", slug: "berne-ch" }]]);
    expect(withDistinctSlugs([bern, berne], names)).toEqual(
      new Map([[bern.key, { name: "Berne", slug: "bern-ch" }]]),
    );
  });

  it("never leaves two regions with the same slug", () => {
    const anySlug = fc.constantFrom("a", "b", "c", "d", "e");
    fc.assert(
      fc.property(fc.array(fc.option(anySlug), { minLength: 5, maxLength: 5 }), (slugs) => {
        const regions = ["a", "b", "c", "d", "e"].map((slug) =>
          aRegion({ key: `travel:${slug}`, slug }),
        );
        const names = new Map(
          slugs.flatMap((slug, index) => {
            const key = regions[index]?.key ?? "";
            return slug === null ? [] : [[key, { name: `Name of ${key}`, slug }] as const];
          }),
        );
        const distinct = withDistinctSlugs(regions, names);
        expect(checkNames(regions, distinct)).toEqual([]);
        for (const [key, { name }] of names) expect(distinct.get(key)?.name).toBe(name);
      }),
    );
  });
});
