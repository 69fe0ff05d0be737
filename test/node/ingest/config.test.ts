import { describe, expect, it } from "vitest";
import { loadConfig, type Settings } from "../../../src/ingest/config.ts";
import { readServingConfig } from "../../../src/platform/serving-config.ts";

const KNOWN = [
  { locale: "de", coverage: 0.9 },
  { locale: "en", coverage: 1 },
  { locale: "ga", coverage: 0.6 },
];

const DEFAULTS = { defaultLocale: "en", cacheMaxBytes: 67_108_864, manifestFreshMs: 30_000 };

const load = (changes: Settings) => loadConfig(changes, KNOWN).config;

/** What is said of settings that cannot be used. */
function complaint(changes: Settings): string {
  return loadConfig(changes, KNOWN).problems.join("; ");
}

describe("loadConfig", () => {
  it("gives settings with their units", () => {
    const settings = {
      AIRPORTS: "scheduled",
      CACHE_MAX_BYTES: "1024",
      SOURCE_URLS: "https://example.org/airports.csv, https://example.org/regions.csv",
      SOURCE_ALLOWED_HOSTS: "cdn.example.org, example.net:8443",
      SURPRISE_UNLISTED_PERCENT: "7",
    };
    expect(load(settings)).toMatchObject({
      airportSet: "scheduled",
      cacheMaxBytes: 1024,
      sourceUrls: {
        "airports.csv": "https://example.org/airports.csv",
        "regions.csv": "https://example.org/regions.csv",
      },
      sourceAllowedHosts: ["cdn.example.org", "example.net:8443"],
      holdLimits: { unlistedPercent: 7 },
    });
  });

  it("has a value for each setting that is not set", () => {
    expect(load({})).toEqual({
      defaultLocale: "en",
      locales: ["de", "en", "ga"],
      airportSet: "all",
      cacheMaxBytes: 67_108_864,
      manifestFreshMs: 30_000,
      source: "embedded",
      sourceUrls: {
        "airports.csv": "https://davidmegginson.github.io/ourairports-data/airports.csv",
        "regions.csv": "https://davidmegginson.github.io/ourairports-data/regions.csv",
      },
      sourceAllowedHosts: [],
      sourceMaxBytes: 33_554_432,
      holdLimits: { holdMs: 259_200_000, unlistedPercent: 8 },
      compression: "fast",
    });
  });

  it.each([
    ["all", ["de", "en", "ga"]],
    ["en", ["en"]],
    [" ga , en,de,en", ["de", "en", "ga"]],
  ])("reads LOCALES “%s” as %j, each once and in order", (LOCALES, locales) => {
    expect(load({ LOCALES }).locales).toEqual(locales);
  });

  it.each(["embedded", "ourairports", "dropped"] as const)("knows the source %s", (SOURCE) => {
    expect(load({ SOURCE }).source).toBe(SOURCE);
  });
});

describe("readServingConfig", () => {
  it("needs no setting of the ingest to be right", () => {
    const wrong = { LOCALES: "tlh", AIRPORTS: "x", SOURCE: "x", COMPRESSION: "x" };
    const worse = { ...wrong, SOURCE_URLS: "x", SOURCE_ALLOWED_HOSTS: "x", SOURCE_MAX_BYTES: "x" };
    expect(readServingConfig(worse)).toEqual({ config: DEFAULTS, problems: [] });
  });

  it.each([
    [{ MANIFEST_FRESH_MS: "soon" }, "MANIFEST_FRESH_MS must be a whole number"],
    [{ MANIFEST_FRESH_MS: "3600001" }, "MANIFEST_FRESH_MS must be between 0 and 3600000"],
    [{ CACHE_MAX_BYTES: "" }, "CACHE_MAX_BYTES must be a whole number"],
    [{ CACHE_MAX_BYTES: "99999999999" }, "CACHE_MAX_BYTES must be between 0 and 75497472"],
  ])("takes the default in the place of %j, and says so", (settings, problem) => {
    expect(readServingConfig(settings)).toEqual({ config: DEFAULTS, problems: [problem] });
  });

  it("takes the default in the place of a value that is no text", () => {
    const settings = { DEFAULT_LOCALE: 5, CACHE_MAX_BYTES: { toString: 5 } };
    expect(readServingConfig(settings).config).toEqual(DEFAULTS);
  });
});

describe("a setting that cannot be used", () => {
  it("has its default, and leaves the others as they are", () => {
    const settings = { LOCALES: "de,en", DEFAULT_LOCALE: "de", CACHE_MAX_BYTES: "64MB" };
    const { config, problems, runProblems } = loadConfig(settings, KNOWN);
    expect(config).toMatchObject({ ...DEFAULTS, defaultLocale: "de", locales: ["de", "en"] });
    expect(problems).toEqual(["CACHE_MAX_BYTES must be a whole number"]);
    expect(runProblems).toEqual([]);
  });

  it("stops runs if they depend on it", () => {
    const { config, runProblems } = loadConfig({ AIRPORTS: "x", LOCALES: "en" }, KNOWN);
    expect(config).toMatchObject({ airportSet: "all", locales: ["en"] });
    expect(runProblems).toEqual(["AIRPORTS must be one of all, scheduled"]);
  });

  it.each([
    ["LOCALES", "en,tlh,xx", 'LOCALES names "tlh", "xx"; there are names in de, en, ga'],
    ["LOCALES", "", 'LOCALES names ""; there are names in de, en, ga'],
    ["LOCALES", "en,", 'LOCALES names ""'],
    ["LOCALES", "constructor", 'LOCALES names "constructor"'],
    ["DEFAULT_LOCALE", "fr", 'LOCALES must name "fr", the DEFAULT_LOCALE, but is de, en, ga'],
    ["DEFAULT_LOCALE", "", 'LOCALES must name "", the DEFAULT_LOCALE, but is de, en, ga'],
    ["AIRPORTS", "", "AIRPORTS must be one of all, scheduled"],
    ["AIRPORTS", "large", "AIRPORTS must be one of all, scheduled"],
    ["CACHE_MAX_BYTES", "48 MB", "CACHE_MAX_BYTES must be a whole number"],
    ["CACHE_MAX_BYTES", "-1", "CACHE_MAX_BYTES must be a whole number"],
    ["CACHE_MAX_BYTES", "1e6", "CACHE_MAX_BYTES must be a whole number"],
    ["CACHE_MAX_BYTES", "75497473", "CACHE_MAX_BYTES must be between 0 and 75497472"],
    ["MANIFEST_FRESH_MS", "", "MANIFEST_FRESH_MS must be a whole number"],
    ["MANIFEST_FRESH_MS", "3600001", "MANIFEST_FRESH_MS must be between 0 and 3600000"],
    ["SOURCE", "", "SOURCE must be one of embedded, ourairports, dropped"],
    ["SOURCE", "openflights", "SOURCE must be one of embedded, ourairports, dropped"],
    ["SOURCE_URLS", "", "SOURCE_URLS must be two URLs: of airports.csv and of regions.csv"],
    ["SOURCE_URLS", "https://example.org/airports.csv", "SOURCE_URLS must be two URLs"],
    ["SOURCE_URLS", "https://a.org/1,https://a.org/2,https://a.org/3", "SOURCE_URLS must be two"],
    ["SOURCE_URLS", "https://a.org/1,file:///etc/passwd", "regions.csv that is neither http"],
    ["SOURCE_URLS", "https://a.org/1,airports.csv", "has a URL of regions.csv that is not a URL"],
    ["SOURCE_URLS", "https://me:pw@a.org/1,https://a.org/2", "airports.csv that has a user name"],
    ["SOURCE_MAX_BYTES", "0", "SOURCE_MAX_BYTES must be between 1048576 and 33554432"],
    ["SOURCE_MAX_BYTES", "33554433", "SOURCE_MAX_BYTES must be between 1048576 and 33554432"],
    ["SOURCE_MAX_BYTES", "32 MB", "SOURCE_MAX_BYTES must be a whole number"],
    ["COMPRESSION", "11", "COMPRESSION must be one of fast, best"],
  ])("leads to a message of what it must be: %s of “%s”", (name, value, message) => {
    expect(complaint({ [name]: value })).toContain(message);
  });

  it("is named together with every other one that cannot be used", () => {
    const bad = { LOCALES: "tlh", CACHE_MAX_BYTES: "x", MANIFEST_FRESH_MS: "y" };
    const problem = complaint(bad);
    for (const name of Object.keys(bad)) expect(problem).toContain(`${name} `);
  });
});
