import { describe, expect, it } from "vitest";
import { isEnglishTitle } from "../build/english-titles.ts";
import { givenNames } from "../build/given-names.ts";
import { withoutNamesakes } from "../build/namesakes.ts";
import { inEnglishNumbering } from "../build/renumbered.ts";
import { withCountries } from "../build/shared-names.ts";
import { makeSounds } from "../build/sound.ts";

/** Latin letters without their marks. */
const sounds = makeSounds((name) => name.normalize("NFD").replaceAll(/\p{M}/gu, ""));

describe("withCountries", () => {
  const qualification = (countries: Readonly<Record<string, string>>, pattern: string) => ({
    countryName: (code: string) => countries[code] ?? "",
    pattern,
  });
  const german = qualification({ BE: "Belgien", GH: "Ghana", ZM: "Sambia" }, "{0} ({1})");

  it("adds the country to a name that subdivisions of several countries have", () => {
    const names = new Map([
      ["iso3166-2:GH-WP", "Western"],
      ["iso3166-2:ZM-01", "western"],
      ["iso3166-2:GH-AA", "Greater Accra"],
    ]);
    expect([...withCountries(names, german).values()]).toEqual([
      "Western (Ghana)",
      "western (Sambia)",
      "Greater Accra",
    ]);
  });

  it("puts name and country together as the locale's pattern has them", () => {
    const names = new Map([
      ["iso3166-2:GH-WP", "西部"],
      ["iso3166-2:ZM-01", "西部"],
    ]);
    const chinese = qualification({ GH: "加纳" }, "{0}（{1}）");
    expect([...withCountries(names, chinese).values()]).toEqual(["西部（加纳）", "西部"]);
  });

  it("leaves a region that is no subdivision alone", () => {
    const names = new Map([
      ["iso3166-2:BE-WLX", "Luxemburg"],
      ["travel:luxembourg", "Luxemburg"],
    ]);
    expect([...withCountries(names, german).values()]).toEqual([
      "Luxemburg (Belgien)",
      "Luxemburg",
    ]);
  });
});

describe("withoutNamesakes", () => {
  const washington = { key: "iso3166-2:US-WA", bareName: "Washington" };
  const district = { key: "iso3166-2:US-DC", bareName: "District of Columbia" };
  const city = { key: "iso3166-2:AR-C", bareName: "Buenos Aires" };
  const province = { key: "iso3166-2:AR-B", bareName: "Buenos Aires Province" };
  const named = (
    regions: readonly { key: string; bareName: string }[],
    names: readonly string[],
    given: ReadonlyMap<string, string> = new Map(),
  ) => {
    const own = new Map(regions.map(({ key }, index) => [key, names[index] ?? ""]));
    return [
      ...withoutNamesakes({
        names: new Map([...own, ...given]),
        given,
        regions,
        soundsLike: sounds.soundsLike,
      }),
    ];
  };

  it("leaves a shared name with the region whose English name it sounds like", () => {
    expect(named([district, washington], ["Vašingtonas", "Vašingtonas"])).toEqual([
      [washington.key, "Vašingtonas"],
    ]);
  });

  it("leaves a shared name with the region of the plainest English name that it sounds like", () => {
    expect(named([province, city], ["Buenos Airės", "Buenos Airės"])).toEqual([
      [city.key, "Buenos Airės"],
    ]);
  });

  it("leaves a shared name with no region if nothing says whose it is", () => {
    const batinah = [
      { key: "iso3166-2:OM-BJ", bareName: "South Al Batinah" },
      { key: "iso3166-2:OM-BS", bareName: "North Al Batinah" },
    ];
    expect(named(batinah, ["Batina", "Batina"])).toEqual([]);
  });

  it("leaves their names to regions that a person has told apart", () => {
    const given = new Map([[district.key, "Kolumbijos apygarda"]]);
    expect(named([district, washington], ["Vašingtonas", "Vašingtonas"], given)).toEqual([
      [district.key, "Kolumbijos apygarda"],
      [washington.key, "Vašingtonas"],
    ]);
  });

  it("drops a name that is the English one of a neighbour without a name", () => {
    const flevoland = { key: "iso3166-2:NL-FL", bareName: "Flevoland" };
    const friesland = { key: "iso3166-2:NL-FR", bareName: "Friesland" };
    const names = new Map([[friesland.key, "Flevoland"]]);
    const regions = [flevoland, friesland];
    const { soundsLike } = sounds;
    expect(withoutNamesakes({ names, given: new Map(), regions, soundsLike }).size).toBe(0);
  });

  it("leaves equal names in two countries alone, and those of no country", () => {
    const regions = [
      { key: "iso3166-2:BE-WLX", bareName: "Luxembourg" },
      { key: "iso3166-1:LU", bareName: "Luxembourg" },
      { key: "travel:a", bareName: "Coast" },
      { key: "travel:b", bareName: "Coast" },
    ];
    expect(named(regions, ["Luxemburg", "Luxemburg", "Küste", "Küste"])).toHaveLength(4);
  });
});

describe("inEnglishNumbering", () => {
  const fars = { key: "iso3166-2:IR-07", bareName: "Fars", cldr: ["ir14"] };
  const tehran = { key: "iso3166-2:IR-23", bareName: "Tehran", cldr: ["ir07"] };
  const hormozgan = { key: "iso3166-2:IR-22", bareName: "Hormozgan", cldr: ["ir23"] };
  const regions = [fars, tehran, hormozgan];
  const renumbered = (names: Readonly<Record<string, string>>) =>
    Object.fromEntries(inEnglishNumbering(new Map(Object.entries(names)), regions, sounds));

  it("moves names that stand under the codes of today", () => {
    expect(renumbered({ ir07: "Fors", ir23: "Tehron ustoni" })).toEqual({
      ir14: "Fors",
      ir07: "Tehron ustoni",
    });
  });

  it("leaves names that stand under the codes of CLDR's English", () => {
    const names = { ir14: "Fars", ir07: "Teheran (provinz)", ir23: "Hormozgān" };
    expect(renumbered(names)).toEqual(names);
  });

  it("leaves a name alone that sounds like neither", () => {
    expect(renumbered({ ir07: "Hauptstadt" })).toEqual({ ir07: "Hauptstadt" });
  });
});

describe("isEnglishTitle", () => {
  it.each(["Adana Province", "Capital Region", "Province of Bohol"])(
    "finds an English title in %s in any language",
    (name) => {
      expect(isEnglishTitle(name, "Adana", "XX")).toBe(true);
    },
  );

  it("finds an English word if the name is the English one", () => {
    expect(isEnglishTitle("Ailuk Atoll", "Ailuk Atoll", "XX")).toBe(true);
    expect(isEnglishTitle("Rhode Island", "Rhode Island", "XX")).toBe(true);
  });

  it.each(["Kanton Bern", "Provincia de Jaén", "Island", "Falkland Islands"])(
    "leaves %s, which is not the English name",
    (name) => {
      expect(isEnglishTitle(name, "Iceland", "XX")).toBe(false);
    },
  );

  it.each(["Southern Bölgesi", "Far North", "Ramallah and al-Bireh", "Doğu Highlands"])(
    "finds the English direction or word in %s",
    (name) => {
      expect(isEnglishTitle(name, "Lakes", "XX")).toBe(true);
    },
  );

  it("leaves the English directions of English-speaking countries", () => {
    expect(isEnglishTitle("North Dakota", "North Dakota", "US")).toBe(false);
  });

  it("leaves a proper name that languages share", () => {
    expect(isEnglishTitle("Bremen", "Bremen", "XX")).toBe(false);
  });
});

describe("givenNames", () => {
  const regions = [{ key: "travel:alps" }];
  const given = (...rows: { locale: string; key: string; name: string }[]) =>
    givenNames(rows, regions, new Set(["de", "fr"]));
  const alpen = { locale: "de", key: "travel:alps", name: "Alpen" };

  it("gives a locale its names", () => {
    expect([...given(alpen)("de")]).toEqual([["travel:alps", "Alpen"]]);
    expect([...given(alpen)("fr")]).toEqual([]);
  });

  it("names the row of an unknown region or locale, and the name that is there twice", () => {
    expect(() => given({ ...alpen, key: "travel:alp" })).toThrow(
      "Alpen in de of travel:alp: no such region",
    );
    expect(() => given({ ...alpen, locale: "xx" })).toThrow(
      "Alpen in xx of travel:alps: no such locale",
    );
    expect(() => given(alpen, alpen)).toThrow("travel:alps in de is named twice");
  });
});
