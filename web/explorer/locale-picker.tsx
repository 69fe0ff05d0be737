import { useEffect, useState } from "preact/hooks";
import { inTasks } from "../../client/src/catalog.ts";
import { useSpeech } from "./use-speech.ts";
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
  const { words } = useSpeech();
  const [named, setNamed] = useState<readonly NamedLocale[]>([]);
  useEffect(() => {
    let isWanted = true;
    void nameLocales(known).then((names) => isWanted && setNamed(names));
    return () => {
      isWanted = false;
    };
  }, [known]);
  const isPublished = named.some(({ locale }) => locale === value);
  return (
    <select
      class="select"
      aria-label={words.language}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {named.map(({ locale, name }) => (
        <option key={locale} value={locale} lang={locale}>
          {name}
        </option>
      ))}
      {/* A link may name a tag that is no language. */}
      {!isPublished && <option value={value}>{value}</option>}
    </select>
  );
}

interface NamedLocale {
  readonly locale: string;
  readonly name: string;
}

/** Names locales in tasks: on a phone, the names of all take longer than a frame. */
async function nameLocales(known: typeof NONE): Promise<NamedLocale[]> {
  const named: NamedLocale[] = [];
  await inTasks(known, ({ locale }) => named.push({ locale, name: localeName(locale) }));
  return named.toSorted((a, b) => a.name.localeCompare(b.name));
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
