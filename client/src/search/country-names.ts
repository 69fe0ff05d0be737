/**
 * The languages of most travellers: countries and regions are found in them and in the answer's.
 *
 * @public for `data/build`
 */
export const LANGUAGES =
  "ar cs da de el en es fi fr hi hu id it ja ko nl no pl pt ro ru sv th tr uk vi zh zh-Hant".split(
    " ",
  );

/** Names a country in the languages of most travellers. */
export function countryNames(code: string): string[] {
  names ??= LANGUAGES.map((locale) => new Intl.DisplayNames(locale, { type: "region" }));
  return names.map((inLanguage) => inLanguage.of(code) ?? code);
}

let names: readonly Intl.DisplayNames[] | undefined;
