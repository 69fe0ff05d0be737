/** Compares the locales of the settings with those of a version. Pure. */
import { negotiateLocale } from "./locale.ts";

export interface LocaleSettings {
  readonly locales: readonly string[];
  readonly defaultLocale: string;
}

interface LocaleComparison {
  /** Locales of the settings that the version lacks. */
  readonly missing: readonly string[];
  /** Locales of the version that the settings do not name. */
  readonly extra: readonly string[];
  /** The locale that answers where none is named. */
  readonly answering: string;
  /** What differs, what follows from that, and what to do; empty if nothing does. */
  readonly message: string;
}

/** @param version names the version at the start of a sentence. */
export function compareLocales(
  version: string,
  published: { readonly [locale: string]: unknown },
  { locales, defaultLocale }: LocaleSettings,
): LocaleComparison {
  const names = Object.keys(published);
  const missing = locales.filter((locale) => !names.includes(locale));
  const extra = names.filter((locale) => !locales.includes(locale));
  const answering = negotiateLocale("", published, defaultLocale).locale;
  const sentences = [
    missing.length > 0 && `${version} lacks ${missing.join(", ")} of LOCALES.`,
    answering !== defaultLocale &&
      `DEFAULT_LOCALE is ${defaultLocale}: ${answering} answers instead.`,
    extra.length > 0 &&
      `${version} has ${extra.join(", ")}, which LOCALES does not name: the next publication ends that.`,
    missing.length + extra.length > 0 &&
      "Queue an ingest to publish LOCALES, and resume if it is paused; or change the settings.",
  ];
  return {
    missing,
    extra,
    answering,
    message: sentences.filter((text) => text !== false).join(" "),
  };
}
