import { useMemo } from "preact/hooks";
import type { Health } from "./use-health.ts";

interface Props {
  /** Locale of the names that are shown. */
  readonly value: string;
  readonly published: Health["locales"];
  readonly onChange: (locale: string) => void;
}

const NONE: NonNullable<Health["locales"]> = [];

/** Chooses a published locale by its name in its own language. */
export function LocalePicker({ value, published: known = NONE, onChange }: Props) {
  const published = useMemo(
    () =>
      known
        .map(({ locale }) => locale)
        .toSorted((a, b) => localeName(a).localeCompare(localeName(b))),
    [known],
  );
  const locales = published.includes(value) ? published : [...published, value];
  return (
    <select
      class="select"
      aria-label="Language"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {locales.map((locale) => (
        // A link may name a tag that is no language.
        <option key={locale} value={locale} lang={published.includes(locale) ? locale : undefined}>
          {localeName(locale)}
        </option>
      ))}
    </select>
  );
}

/** The names of languages that browsers have in English only, as CLDR has them. */
const NATIVE_NAMES: { readonly [tag: string]: string } = {
  be: "беларуская",
  ccp: "𑄌𑄋𑄴𑄟𑄳𑄦",
  cy: "Cymraeg",
  eu: "euskara",
  ga: "Gaeilge",
  gl: "galego",
  hy: "հայերեն",
  ka: "ქართული",
  mk: "македонски",
  si: "සිංහල",
  yue: "粵語",
  "yue-Hans": "粤语 (简体)",
};

/** Returns a locale's name in its own language, such as "Deutsch", or the tag. */
function localeName(tag: string): string {
  const native = NATIVE_NAMES[tag];
  if (native !== undefined) return native;
  try {
    return new Intl.DisplayNames([tag], { type: "language", fallback: "code" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}
