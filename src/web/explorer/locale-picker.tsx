import { useEffect, useState } from "preact/hooks";

interface Props {
  /** Locale of the names that are shown. */
  readonly value: string;
  readonly onChange: (locale: string) => void;
}

/** Chooses a published locale by its name in its own language. */
export function LocalePicker({ value, onChange }: Props) {
  const published = usePublishedLocales();
  const locales = published.includes(value) ? published : [...published, value];
  return (
    <select
      class="select"
      aria-label="Language"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {locales.map((locale) => (
        // A link may ask for what is no language.
        <option key={locale} value={locale} lang={published.includes(locale) ? locale : undefined}>
          {localeName(locale)}
        </option>
      ))}
    </select>
  );
}

/** Returns a locale's name in its own language, such as "Deutsch", or the tag. */
function localeName(tag: string): string {
  try {
    return new Intl.DisplayNames([tag], { type: "language", fallback: "code" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}

/** The part of `GET /catalog/health` that this page reads. */
interface Health {
  readonly locales?: readonly { readonly locale: string }[];
}

function usePublishedLocales(): readonly string[] {
  const [locales, setLocales] = useState<readonly string[]>([]);
  useEffect(() => {
    const left = new AbortController();
    const load = async () => {
      const answer = await fetch("/catalog/health", { signal: left.signal });
      const health: Health = answer.ok ? await answer.json() : {};
      const tags = (health.locales ?? []).map(({ locale }) => locale);
      setLocales(tags.toSorted((a, b) => localeName(a).localeCompare(localeName(b))));
    };
    // The language that is shown stays, and a link can name any other.
    load().catch((cause: unknown) => left.signal.aborted || console.warn(cause));
    return () => left.abort();
  }, []);
  return locales;
}
