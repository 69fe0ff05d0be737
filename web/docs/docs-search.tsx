import { useState } from "preact/hooks";

/** A chapter of a page of the documents, as the build writes it. */
interface Chapter {
  readonly href: string;
  readonly title: string;
  /** Its words in lower case. */
  readonly text: string;
}

const SHOWN_MAX = 8;

/** Finds the chapters that have all typed words, those with the words in their titles first. */
export function DocsSearch() {
  const [chapters, setChapters] = useState<readonly Chapter[]>();
  const [typed, setTyped] = useState("");
  const load = () => {
    if (chapters === undefined) void loadChapters().then(setChapters);
  };
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const hasAll = (text: string) => words.every((word) => text.includes(word));
  const found = (chapters ?? [])
    .filter(({ text }) => words.length > 0 && hasAll(text))
    .toSorted(
      (a, b) => Number(hasAll(b.title.toLowerCase())) - Number(hasAll(a.title.toLowerCase())),
    );
  return (
    <search>
      <input
        class="input"
        type="search"
        aria-label="Search the documents"
        placeholder="Search"
        value={typed}
        onFocus={load}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <p class="hint" role="status">
        {words.length > 0 && chapters && `Chapters found: ${found.length}`}
      </p>
      <ul>
        {found.slice(0, SHOWN_MAX).map(({ href, title }) => (
          <li key={href}>
            <a href={href}>{title}</a>
          </li>
        ))}
      </ul>
    </search>
  );
}

async function loadChapters(): Promise<readonly Chapter[]> {
  const answer = await fetch("/docs/chapters.json");
  return answer.ok ? answer.json() : [];
}
