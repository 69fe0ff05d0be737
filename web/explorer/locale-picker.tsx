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
  // A name takes long to make: on a phone, those of all locales take longer than a frame.
  const published = useMemo(
    () =>
      known
        .map(({ locale }) => ({ locale, name: localeName(locale) }))
        .toSorted((a, b) => a.name.localeCompare(b.name)),
    [known],
  );
  const isPublished = published.some(({ locale }) => locale === value);
  return (
    <select
      class="select"
      aria-label="Language"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {published.map(({ locale, name }) => (
        <option key={locale} value={locale} lang={locale}>
          {name}
        </option>
      ))}
      {/* A link may name a tag that is no language. */}
      {!isPublished && <option value={value}>{localeName(value)}</option>}
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
