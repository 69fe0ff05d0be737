import { describe, expect, it } from "vitest";
import { LOCALE_MAX_BYTES, negotiateLocale, parseLocale } from "../../../src/catalog/locale.ts";

/** Locales with an object as value, as in a manifest. */
function published(...locales: string[]): { readonly [locale: string]: unknown } {
  return Object.fromEntries(locales.map((locale) => [locale, {}]));
}

const PUBLISHED = published(
  "de",
  "en",
  "fr",
  "he",
  "id",
  "no",
  "pt",
  "pt-BR",
  "sr",
  "sr-Latn",
  "zh",
  "zh-Hant",
);

/** Negotiates a locale as a caller wrote it. */
function answer(raw: string): string {
  const parsed = parseLocale(raw);
  if (!parsed.ok) return parsed.reason;
  const { locale, fallback } = negotiateLocale(parsed.tag, PUBLISHED, "en");
  return `${locale} ${fallback}`;
}

describe("parseLocale", () => {
  it.each([
    ["", ""],
    ["  ", ""],
    ["de", "de"],
    [" de\n", "de"],
    ["DE_at", "de-AT"],
    ["pt_br", "pt-BR"],
    ["iw", "he"],
    ["in", "id"],
    ["nb", "no"],
    ["nn-NO", "no-NO"],
    ["nb_Latn_NO", "no-Latn-NO"],
    ["zh-hant-tw", "zh-Hant-TW"],
    ["sh", "sr-Latn"],
    ["de-DE-u-co-phonebk", "de-DE"],
    ["en-x-private", "en"],
    ["zh-yue", "zh"],
    ["zh-cmn-Hans-CN", "zh-Hans-CN"],
    ["zh-min-nan", "zh"],
    ["i-default", "und"],
    ["x-private", "und"],
    ["en-GB-oed", "en-GB"],
    ["i-lux", "lb"],
  ])("normalizes %j to %j", (raw, tag) => {
    expect(parseLocale(raw)).toEqual({ ok: true, tag });
  });

  it.each([
    ["e", "malformed"],
    ["de--AT", "malformed"],
    ["de-", "malformed"],
    ["-", "malformed"],
    ["de AT", "malformed"],
    ["en-US.UTF-8", "malformed"],
    ["dé", "malformed"],
    ["德", "malformed"],
    ["\ud800", "malformed"],
    ["de\u0000", "malformed"],
    ["__proto__", "malformed"],
    ["i-other", "malformed"],
    ["x", "malformed"],
    ["zh-yue-x", "malformed"],
    ["constructor", "malformed"],
    ["abcdefghi", "malformed"],
    [`en-x-${"a".repeat(31)}`, "too_long"],
    ["x".repeat(4000), "too_long"],
  ])("refuses %j as %s", (raw, reason) => {
    expect(parseLocale(raw)).toEqual({ ok: false, reason });
  });

  it("accepts a tag of 35 bytes and refuses one of 36", () => {
    const longest = "en-x-aaaaaaaa-bbbbbbbb-cccccccc-ddd";
    expect(longest).toHaveLength(LOCALE_MAX_BYTES);
    expect(parseLocale(longest)).toEqual({ ok: true, tag: "en" });
    expect(parseLocale(`${longest}d`)).toEqual({ ok: false, reason: "too_long" });
  });
});

describe("negotiateLocale", () => {
  it.each([
    ["", "en none"],
    ["de", "de none"],
    ["nb", "no none"],
    ["nn", "no none"],
    ["iw", "he none"],
    ["in", "id none"],
    ["pt_br", "pt-BR none"],
    ["pt-PT", "pt parent"],
    ["de-AT", "de parent"],
    ["de-AT-1996", "de parent"],
    ["zh", "zh none"],
    ["zh-Hant", "zh-Hant none"],
    ["zh-TW", "zh-Hant parent"],
    ["zh-HK", "zh-Hant parent"],
    ["zh-Hant-TW", "zh-Hant parent"],
    ["zh-CN", "zh parent"],
    ["zh-Hans", "zh parent"],
    ["sr-Latn", "sr-Latn none"],
    ["sr-Latn-RS", "sr-Latn parent"],
    ["sr-ME", "sr-Latn parent"],
    ["sr-RS", "sr parent"],
    ["sh", "sr-Latn none"],
    ["en-GB", "en parent"],
    ["en", "en none"],
    ["xx", "en default"],
    ["ja-JP", "en default"],
    ["und", "en default"],
    ["und-TW", "en default"],
    ["valueof", "en default"],
  ])("answers %j with %s", (raw, expected) => {
    expect(answer(raw)).toBe(expected);
  });

  it.each([
    ["de,en", "ja", "", "en default"],
    ["de,en", "ja", "ja", "en default"],
    ["de,en", "ja", "ja-JP", "en default"],
    ["de,en", "ja", "und", "en default"],
    ["de,en", "ja", "en", "en none"],
    ["de,en", "ja", "de-AT", "de parent"],
    ["de,en", "de-AT", "de-AT", "de parent"],
    ["de,en", "de-AT", "", "en default"],
    ["de,ja", "en", "en", "de default"],
    ["de,ja", "en", "ja", "ja none"],
    ["de", "constructor", "", "de default"],
    ["de", "__proto__", "", "de default"],
    ["de", "", "", "de default"],
  ])(
    "answers with what is published: of %s with the default %j, for %j, %s",
    (locales, defaultLocale, tag, expected) => {
      const available = published(...locales.split(","));
      const { locale, fallback } = negotiateLocale(tag, available, defaultLocale);
      expect(`${locale} ${fallback}`).toBe(expected);
    },
  );
});
