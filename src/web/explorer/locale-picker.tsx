import { useEffect, useState } from "preact/hooks";
import { localeName } from "./locale-name.ts";
import { fetchPublishedLocales, type PublishedLocale } from "./published-locales.ts";

interface Props {
  /** Empty for the service's default. */
  readonly value: string;
  readonly onChange: (locale: string) => void;
}

/** Value of the choice to type a tag. No language tag contains an asterisk. */
const OTHER = "*";

/** Chooses a published locale by name, or any typed tag. */
export function LocalePicker({ value, onChange }: Props) {
  const locales = usePublishedLocales();
  const isListed = value === "" || locales.some(({ tag }) => tag === value);
  const [isTyping, setTyping] = useState(false);
  const isOther = isTyping || !isListed;
  const onSelect = (choice: string) => {
    setTyping(choice === OTHER);
    if (choice !== OTHER) onChange(choice);
  };
  return (
    <div class="locale-picker">
      <label class="field">
        <span class="field-label">Locale</span>
        <select
          class="select"
          value={isOther ? OTHER : value}
          onChange={(event) => onSelect(event.currentTarget.value)}
        >
          <option value="">Default</option>
          {locales.map(({ tag }) => (
            <option key={tag} value={tag} lang={tag}>
              {`${localeName(tag)} (${tag})`}
            </option>
          ))}
          <option value={OTHER}>Another tag …</option>
        </select>
      </label>
      {isOther && <TagForm key={value} value={isListed ? "" : value} onChange={onChange} />}
    </div>
  );
}

function TagForm({ value, onChange }: Props) {
  const [typed, setTyped] = useState(value);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (typed.trim() !== "") onChange(typed.trim());
  };
  return (
    <form class="tag-form" onSubmit={onSubmit}>
      <label class="field">
        <span class="field-label">Language tag</span>
        <input
          class="input"
          type="text"
          size={9}
          autocomplete="off"
          spellcheck={false}
          placeholder="de-AT"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="button">
        Use
      </button>
    </form>
  );
}

function usePublishedLocales(): readonly PublishedLocale[] {
  const [locales, setLocales] = useState<readonly PublishedLocale[]>([]);
  useEffect(() => {
    const left = new AbortController();
    fetchPublishedLocales(left.signal).then(setLocales, (cause: unknown) => {
      // People can still type a tag without the list.
      if (!left.signal.aborted) console.warn(cause);
    });
    return () => left.abort();
  }, []);
  return locales;
}
