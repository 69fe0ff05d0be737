import { describe, expect, it } from "vitest";
import { bestCoverage, describeVersion } from "../../../src/coordinator/versions.ts";
import { isSameContent } from "../../../src/ingest/content.ts";
import type { Manifest } from "../../../src/parts/manifest.ts";
import { aLocaleEntry, aManifest, aVersion } from "../../builders/manifest.ts";

describe("describeVersion", () => {
  it("names the earlier generation whose content it publishes again", () => {
    const versions = [4, 3, 2, 1].map((generation) =>
      aManifest({ generation, catalog_sha256: String(generation === 4 ? 2 : generation) }),
    );
    const found = versions.map((version) => describeVersion(version, versions).republishes);
    expect(found).toEqual([2, null, null, null]);
  });

  it("says whether there is a diff from its content to the current version", () => {
    const [old, known, newest] = [1, 2, 3].map((generation) =>
      aManifest({ generation, catalog_sha256: String(generation) }),
    ) as [Manifest, Manifest, Manifest];
    const current = { ...newest, diffs: [{ ...known, common: "", local: {} }] };
    const versions = [current, known, old];
    expect(describeVersion(old, versions)).toMatchObject({ is_current: false, has_diff: false });
    expect(describeVersion(known, versions)).toMatchObject({ is_current: false, has_diff: true });
    expect(describeVersion(current, versions)).toMatchObject({ is_current: true, has_diff: true });
  });
});

describe("bestCoverage", () => {
  it("returns the highest coverage of each locale in any version, even of a locale that is no longer published", () => {
    const version = (coverages: { readonly [locale: string]: number }) =>
      aManifest({
        locales: Object.fromEntries(
          Object.entries(coverages).map(([locale, coverage]) => [
            locale,
            aLocaleEntry({ coverage }),
          ]),
        ),
      });
    const versions = [version({ en: 0.8, de: 0.7 }), version({ en: 0.9, de: 0.6, fr: 0.5 })];
    expect(bestCoverage(versions)).toEqual({ en: 0.9, de: 0.7, fr: 0.5 });
    expect(bestCoverage([])).toEqual({});
  });
});

/** The same with the members of each object in the opposite order. */
function reversed<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, reversed(member)]);
  return Object.fromEntries(entries.toReversed()) as T; // of the same members
}

describe("isSameContent", () => {
  it("compares the served content and ignores generation and times", () => {
    const [one, two] = [aVersion(1, "one").manifest, aVersion(2, "two").manifest];
    expect(isSameContent(one, { ...one, locales: one.locales })).toBe(true);
    const again = { ...one, generation: 3, previous: 2 };
    expect(isSameContent(one, again)).toBe(true);
    expect(isSameContent(one, two)).toBe(false);
  });

  it("ignores the order of locales and codings", () => {
    const { shared, locales } = aVersion(1, "one", ["de", "en"]).manifest;
    const turned = { shared: reversed(shared), locales: reversed(locales) };
    expect(JSON.stringify(turned)).not.toBe(JSON.stringify({ shared, locales }));
    expect(isSameContent({ shared, locales }, turned)).toBe(true);
  });
});
