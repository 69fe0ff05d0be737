import { describe, expect, it } from "vitest";
import { placeContext } from "../../web/explorer/places.ts";
import { ENGLISH } from "../../web/explorer/speech.ts";
import { SEARCH_LIMIT } from "../src/search/search.ts";
import { catalogFinder, snapshotFinder } from "../../test/builders/catalog-finder.ts";
import { aLocationsResponse } from "../../test/builders/locations-response.ts";

/** Says what a search finds. */
function texts(find: Awaited<ReturnType<typeof catalogFinder>>) {
  return (typed: string) =>
    find(typed).map(({ place }) => {
      const name = place.kind === "airport" ? place.iata : place.name;
      return `${place.kind} ${name} (${placeContext(place, ENGLISH)})`;
    });
}

const inSmall = texts(await catalogFinder(aLocationsResponse()));
const { find: findInEnglish } = await snapshotFinder();
const inEnglish = texts(findInEnglish);

describe("a search of the catalog", () => {
  it("ignores accents", () => {
    expect(inSmall("zurich")).toHaveLength(3);
    expect(inSmall("ZÜRICH")).toEqual(inSmall("zurich"));
  });

  it("finds words in any order", () => {
    expect(inSmall("lin airport")[0]).toBe("airport LIN (Milan, Italy)");
    expect(inSmall("airport lin")).toEqual(inSmall("lin airport"));
  });

  it("finds nothing for an empty text or for marks alone", () => {
    for (const typed of ["", "  ", "-", "’"]) expect(inSmall(typed)).toEqual([]);
  });

  it("counts the first words of a long text only", () => {
    const milan = (times: number) => inSmall("milan ".repeat(times));
    expect(milan(1_000)).toEqual(milan(12));
    expect(milan(12)).not.toEqual([]);
    expect(inSmall(`${"milan ".repeat(12)}zurich`)).toEqual(milan(12));
  });

  it("reads the beginning of a long text only", () => {
    expect(inSmall(`zurich${" ".repeat(100)}milan`)).toEqual(inSmall("zurich"));
  });

  it("matches letters only at the beginning of a word", () => {
    expect(inSmall("ric")).toEqual([]);
  });

  it("lists a bounded number of places", () => {
    expect(inEnglish("airport")).toHaveLength(SEARCH_LIMIT);
  });
});

describe("a search of all places of the world", () => {
  it.each([
    ["zrh", "airport ZRH (Zurich, Switzerland)"],
    ["LSZH", "airport ZRH (Zurich, Switzerland)"],
    ["london canada", "city London (Ontario, Canada)"],
    ["new york", "city New York (United States)"],
    ["nyc", "city New York (United States)"],
    ["LON", "city London (England, United Kingdom)"],
    ["uk", "country United Kingdom (GBR)"],
    ["CDG airport", "airport CDG (Paris, France)"],
    ["bavaria", "region Bavaria (13 airports)"],
    ["Zurch", "city Zurich (Switzerland)"],
    ["Frankfrut", "city Frankfurt (Hesse, Germany)"],
    ["barcelna airport", "airport BCN (Barcelona, Spain)"],
    ["kiev", "city Kyiv (Ukraine)"],
    ["peking", "city Beijing (China)"],
    ["mailand", "city Milan (Lombardy, Italy)"],
  ])("finds %s first as %s", (typed, expected) => {
    expect(inEnglish(typed)[0]).toBe(expected);
  });

  it("lists the airports of a city under it, the busiest first", () => {
    const found = findInEnglish("new york").map(({ place, isUnderCity }) => [
      place.kind === "airport" ? place.iata : place.kind,
      isUnderCity,
    ]);
    expect(found.slice(0, 4)).toEqual([
      ["city", false],
      ["JFK", true],
      ["EWR", true],
      ["LGA", true],
    ]);
    expect(findInEnglish("newark")[0]?.isUnderCity).toBe(false);
  });

  it("tells a place by its administrative region, not by a travel region", () => {
    expect(inEnglish("venice")[0]).toBe("city Venice (Veneto, Italy)");
  });

  it("tells a city by no region of its airports in which the city is not", () => {
    expect(inEnglish("berlin")[0]).toBe("city Berlin (Germany)");
    expect(inEnglish("oslo")[0]).toBe("city Oslo (Norway)");
  });

  it.each([
    ["Moscow", "Russia"],
    ["Kyiv", "Ukraine"],
    ["Minsk", "Belarus"],
    ["Bucharest", "Romania"],
    ["Brussels", "Belgium"],
    ["Jakarta", "Indonesia"],
    ["Mexico City", "Mexico"],
    ["Islamabad", "Pakistan"],
    ["Tashkent", "Uzbekistan"],
    ["Munich", "Bavaria, Germany"],
    ["Paris", "Île-de-France, France"],
  ])("puts %s into no subdivision that only its airports are in", (city, where) => {
    expect(inEnglish(city)).toContain(`city ${city} (${where})`);
  });

  it("ranks places with a matching name of their own before those that match by another name", () => {
    const found = inEnglish("victoria");
    const first = (name: string) => found.findIndex((one) => one.startsWith(name));
    expect(first("city Victoria")).toBeGreaterThan(0);
    expect(first("city Hong Kong")).toBeGreaterThan(
      found.lastIndexOf("airport SEZ (Victoria, Seychelles)"),
    );
  });

  it("finds a name in another language by four letters, not by three", () => {
    expect(inEnglish("pek").join()).not.toContain("city Beijing");
    expect(inEnglish("peki")[0]).toMatch(/^city Beijing/);
  });

  it("drops words that no place has, and finds nothing if no word is left", () => {
    expect(inEnglish("heathrow qxqxq")).toEqual(inEnglish("heathrow"));
    expect(inEnglish("terminal 5 qxqxq")).toEqual([]);
  });

  it.each([
    ["fenver", "city Denver (Colorado, United States)"],
    ["hicago", "city Chicago (Illinois, United States)"],
    ["lonodn", "city London (England, United Kingdom)"],
    ["dbai", "city Dubai (United Arab Emirates)"],
    ["fenve", "city Denver (Colorado, United States)"],
    ["rihyadd", "city Riyadh (Saudi Arabia)"],
    ["lodnon hetahrow", "airport LHR (London, United Kingdom)"],
    ["nwyork", "city New York (United States)"],
  ])("forgives the typos in %s", (typed, expected) => {
    expect(inEnglish(typed)[0]).toBe(expected);
  });

  it("puts what a typo leads to after what matches as it is typed, and never in its place", () => {
    const names = findInEnglish("tampe").map(({ place }) => place.name);
    expect(names[0]).toBe("Tampere");
    expect(names.indexOf("Tampa")).toBeGreaterThan(names.indexOf("Tampere–Pirkkala Airport"));
  });

  it("forgives no typo in three letters, and none where ten places match", () => {
    expect(inEnglish("xqx")).toEqual([]);
    expect(inEnglish("paris").every((found) => /pari|France|Texas|United/i.test(found))).toBe(true);
  });

  it.each([
    ["gatwick north terminal", "airport LGW (London, United Kingdom)"],
    ["orly sud", "airport ORY (Paris, France)"],
    ["berlin-t", "city Berlin (Germany)"],
    ["heathrow qxqxq", "airport LHR (London, United Kingdom)"],
    ["manhatan london hilton", "city London (England, United Kingdom)"],
  ])("finds the best of %s where no place has all words, and says so", (typed, expected) => {
    expect(inEnglish(typed)[0]).toBe(expected);
    expect(findInEnglish(typed).every(({ isPartial }) => isPartial)).toBe(true);
  });

  it.each(["london heathrow", "heathrow terminal 5", "århus", "LHR"])(
    "calls what %s finds no part",
    (typed) => {
      const found = findInEnglish(typed);
      expect(found.length).toBeGreaterThan(0);
      expect(found.some(({ isPartial }) => isPartial)).toBe(false);
    },
  );

  it.each([
    ["usa", "country United States (USA)"],
    ["kos", "airport KGS (Kos, Greece)"],
    ["goa", "city Goa (India)"],
    ["hue", "city Hue (Vietnam)"],
    ["ufa", "airport UFA (Ufa, Russia)"],
    ["per", "airport PER (Perth, Australia)"],
    ["d.c.", "city Washington (United States)"],
    ["u.k.", "country United Kingdom (GBR)"],
    ["New York, NY", "city New York (United States)"],
    ["edinborough", "city Edinburgh (Scotland, United Kingdom)"],
    ["canary islands", "region Canary Islands (8 airports)"],
    ["ceylon", "country Sri Lanka (LKA)"],
  ])("finds first what everybody means by %s", (typed, expected) => {
    expect(inEnglish(typed)[0]).toBe(expected);
  });

  it("guesses nothing beside a whole name, and says what is a guess", () => {
    expect(inEnglish("hannover").join()).not.toContain("Vancouver");
    const guesses = (typed: string) =>
      findInEnglish(typed).filter(({ place, isPartial }) => isPartial && place.kind === "city");
    expect(guesses("tampe").map(({ place }) => place.name)).toContain("Tampa");
    expect(guesses("fenve").map(({ place }) => place.name)).toContain("Denver");
    expect(guesses("tampere")).toEqual([]);
  });

  it.each([
    "Zhangzhou",
    "Palencia",
    "Orense",
    "Soria",
    "Zgorzelec",
    "Chomutov",
    "Mangalia",
    "lodnon",
  ])("calls all a guess that it finds for %s, which no place is called", (typed) => {
    expect(findInEnglish(typed).filter(({ isPartial }) => !isPartial)).toEqual([]);
  });

  it("takes letters with marks for no code", () => {
    expect(inEnglish("MAO")[0]).toMatch(/^airport MAO/);
    expect(inEnglish("İST")[0]).toMatch(/^airport IST/);
    expect(inEnglish("Nîs")[0]).not.toMatch(/^airport NIS/);
  });
});
