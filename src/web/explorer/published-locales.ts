/** A published locale. */
export interface PublishedLocale {
  readonly tag: string;
  /** Share of regions with a localized name, 0 to 1; null if unknown. */
  readonly coverage: number | null;
}

/** The part of `GET /catalog/health` that this page reads. */
interface Health {
  readonly locales?: readonly { readonly locale: string; readonly coverage?: number }[];
}

/** Loads the published locales, sorted by tag. Returns none if the service cannot tell. */
export async function fetchPublishedLocales(signal: AbortSignal): Promise<PublishedLocale[]> {
  const answer = await fetch("/catalog/health", { signal });
  if (!answer.ok) return [];
  const { locales = [] } = (await answer.json()) as Health; // the service's own document
  return locales
    .map(({ locale, coverage }) => ({ tag: locale, coverage: coverage ?? null }))
    .toSorted((a, b) => a.tag.localeCompare(b.tag, "en"));
}
