import { useEffect, useState } from "preact/hooks";
import sectionsUrl from "generated:docs-sections.json";
import type { DocsSection } from "./docs-section.ts";

/** So many sections are shown. */
const FOUND_MAX = 12;
/** Characters before the first word that was found. */
const BEFORE = 40;
const SNIPPET = 140;

/** Searches all pages of the documentation. */
export function DocsSearch() {
  const [typed, setTyped] = useState("");
  const [isWanted, setWanted] = useState(false);
  const sections = useSections(isWanted);
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length > 0 && sections ? findSections(sections, words) : [];
  return (
    <div role="search">
      <input
        class="input"
        type="search"
        placeholder="Search"
        aria-label="Search the documentation"
        value={typed}
        onFocus={() => setWanted(true)}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <p class="hint" role="status">
        {words.length > 0 && sections && found.length === 0 && `Nothing found for “${typed}”`}
      </p>
      {found.length > 0 && (
        <ul class="docs-found">
          {found.map(({ page, heading, href, text }) => (
            <li key={href}>
              <a href={href}>{heading === "" ? page : `${page}: ${heading}`}</a>
              <small>{snippetOf(text, words)}</small>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Loads the texts once somebody wants to search. */
function useSections(isWanted: boolean): readonly DocsSection[] | undefined {
  const [sections, setSections] = useState<readonly DocsSection[]>();
  useEffect(() => {
    if (!isWanted) return;
    const load = async () => setSections(await (await fetch(sectionsUrl)).json());
    load().catch((cause: unknown) => console.warn(cause));
  }, [isWanted]);
  return sections;
}

/** Finds the sections that have all words: those with more of them in the heading first. */
function findSections(
  sections: readonly DocsSection[],
  words: readonly string[],
): readonly DocsSection[] {
  const countIn = (text: string) =>
    words.filter((word) => text.toLowerCase().includes(word)).length;
  return sections
    .filter(({ page, heading, text }) => countIn(`${page} ${heading} ${text}`) === words.length)
    .map((section) => ({ section, named: countIn(`${section.page} ${section.heading}`) }))
    .toSorted((a, b) => b.named - a.named)
    .slice(0, FOUND_MAX)
    .map(({ section }) => section);
}

function snippetOf(text: string, words: readonly string[]): string {
  const firsts = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const first = firsts.length === 0 ? 0 : Math.min(...firsts);
  const from = Math.max(0, first - BEFORE);
  // It begins with a whole word, if there is one before what was found.
  const space = from === 0 ? -1 : text.slice(from, first).indexOf(" ");
  const start = from + space + 1;
  return `${start > 0 ? "… " : ""}${text.slice(start, start + SNIPPET)}`;
}
