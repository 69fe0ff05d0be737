import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { ENGLISH, type Speech, speechIn } from "./speech.ts";
import type { Words } from "./words/en.ts";

/** The languages that have a table of words; others read English. */
const TABLES: { readonly [language: string]: () => Promise<{ readonly WORDS: Words }> } = {
  ar: () => import("./words/ar.ts"),
  de: () => import("./words/de.ts"),
  es: () => import("./words/es.ts"),
  fr: () => import("./words/fr.ts"),
  it: () => import("./words/it.ts"),
  ja: () => import("./words/ja.ts"),
  ko: () => import("./words/ko.ts"),
  nl: () => import("./words/nl.ts"),
  pl: () => import("./words/pl.ts"),
  pt: () => import("./words/pt.ts"),
  ru: () => import("./words/ru.ts"),
  tr: () => import("./words/tr.ts"),
  zh: () => import("./words/zh.ts"),
  "zh-Hant": () => import("./words/zh-hant.ts"),
};
const TRADITIONAL_CHINESE = /^zh-(?:Hant|TW|HK|MO)\b/i;

export const SpeechContext = createContext(ENGLISH);

/** How the page speaks, within what `SpeechContext` provides. */
export function useSpeech(): Speech {
  return useContext(SpeechContext);
}

/** Loads the words for a locale; returns those of before until they are there. */
export function useSpeechFor(locale: string): Speech {
  const [speech, setSpeech] = useState(ENGLISH);
  useEffect(() => {
    let isWanted = true;
    loadSpeech(locale).then(
      (loaded) => isWanted && setSpeech(loaded),
      // Without a connection, the words that are there stay.
      (cause: unknown) => console.warn(cause),
    );
    return () => {
      isWanted = false;
    };
  }, [locale]);
  return speech;
}

async function loadSpeech(locale: string): Promise<Speech> {
  const [language = ""] = locale.toLowerCase().split(/[-_]/);
  const tag = TRADITIONAL_CHINESE.test(locale) ? "zh-Hant" : language;
  const table = await TABLES[tag]?.();
  return table ? speechIn(tag, table.WORDS) : ENGLISH;
}
