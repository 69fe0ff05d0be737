import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LOCALE_MAX_BYTES, negotiateLocale, parseLocale } from "../../../src/catalog/locale.ts";
import { fuzzed, UNHURRIED } from "../../builders/fuzzed.ts";
import { mutatedBytes } from "../../builders/mutations.ts";

/** Tags that canonicalization changes by more than their case: aliases, grandfathered, variants. */
const ODD_TAGS = [
  "i-klingon",
  "i-default",
  "art-lojban",
  "zh-min-nan",
  "zh-cmn-Hans",
  "sgn-BE-FR",
  "sgn-DE",
  "no-bok",
  "no-nyn",
  "no-bokmal",
  "no-nynorsk",
  "nn-nynorsk",
  "nb-bokmal",
  "nb-x-nn",
  "no-NO-NY",
  "hy-arevela",
  "ja-Latn-hepburn-heploc",
  "aa-saaho",
  "sh-YU",
  "sr-CS",
  "ru-SU",
  "cel-gaulish",
  "en-GB-oed",
  "und-Latn",
  "und",
  "x-private",
  "de-1996-1901",
  "sl-rozaj-biske-1994",
  "de-u-co-phonebk",
  "en-t-jp",
  "aaaa",
  "aaaaa-Zzzz-ZZ-00000",
  "es-419",
  "001",
];

const subtag = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9]{1,9}$/),
  fc.constantFrom("Latn", "Hant", "US", "419", "u", "t", "x", "nynorsk", "bokmal", "1994", ""),
);
const built = fc
  .tuple(
    fc.constantFrom("no", "nb", "nn", "zh", "sr", "sgn", "iw", "sh", "en", "i", "x", "und"),
    fc.array(fc.tuple(fc.constantFrom("-", "_"), subtag), { maxLength: 4 }),
  )
  .map(([language, rest]) => language + rest.flat().join(""));
const damaged = fc
  .constantFrom(...ODD_TAGS)
  .chain((tag) => mutatedBytes(new TextEncoder().encode(tag)))
  .map((bytes) => new TextDecoder("latin1").decode(bytes));
const anyRaw = fc.oneof(
  fc.constantFrom(...ODD_TAGS),
  built,
  damaged,
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom("\ud800", "\udfff", "d", "e", "-", "_", "\u0130", "ı", " ") }),
);

/** What Intl makes of a tag, or undefined where it takes it for none. */
function canonical(raw: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(Intl.getCanonicalLocales(raw.trim().replaceAll("_", "-"))[0] ?? "");
  } catch {
    return undefined;
  }
}

/** A tag of RFC 5646 that Intl does not take: extended languages, private use, irregular tags. */
const ONLY_IN_RFC = /^(?:[a-z]{2,3}(?:-[a-z]{3}){1,3}(?:-|$)|x-|i-|en-gb-oed$|sgn-)/i;

const withoutNorwegian = (language: string) => (/^n[bn]$/.test(language) ? "no" : language);

describe("any text in place of a locale", UNHURRIED, () => {
  it("passes as well-formed exactly if Intl accepts it, and then with the same language", () => {
    fc.assert(
      fc.property(anyRaw, (raw) => {
        const parsed = parseLocale(raw);
        const expected = canonical(raw);
        const isNamed = raw.trim() !== "";
        const isShort = raw.trim().length <= LOCALE_MAX_BYTES;
        fc.pre(expected !== undefined || !ONLY_IN_RFC.test(raw.trim().replaceAll("_", "-")));
        expect(parsed.ok).toBe(!isNamed || (isShort && expected !== undefined));
        fc.pre(isNamed && parsed.ok && expected !== undefined);
        const tag = new Intl.Locale(parsed.tag);
        expect(tag.language).toBe(withoutNorwegian(expected.language));
        expect([tag.script, tag.region]).toEqual([expected.script, expected.region]);
      }),
      fuzzed(1000),
    );
  });

  it("yields a tag that yields itself again", () => {
    fc.assert(
      fc.property(anyRaw, (raw) => {
        const parsed = parseLocale(raw);
        fc.pre(parsed.ok);
        expect(parseLocale(parsed.tag)).toEqual(parsed);
      }),
      fuzzed(1000),
    );
  });

  it("gets a published locale of its own language, or else the default", () => {
    const some = fc.uniqueArray(
      fc.constantFrom("de", "no", "zh", "zh-Hant", "sr-Latn", "he", "sgn", "und", "en-US"),
    );
    fc.assert(
      fc.property(anyRaw, some, (raw, locales) => {
        const parsed = parseLocale(raw);
        if (!parsed.ok) return;
        const available = Object.fromEntries(["en", ...locales].map((locale) => [locale, {}]));
        const { locale, fallback } = negotiateLocale(parsed.tag, available, "en");
        expect(Object.keys(available)).toContain(locale);
        if (fallback !== "parent") return;
        expect(new Intl.Locale(locale).language).toBe(new Intl.Locale(parsed.tag).language);
      }),
      fuzzed(1000),
    );
  });
});
