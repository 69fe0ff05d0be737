/** A locale that the service publishes. */
export interface PublishedLocale {
  readonly tag: string;
  /** Share of the regions that have a name in it, 0 to 1; null where the service does not say. */
  readonly coverage: number | null;
}

/** What `GET /catalog/health` answers, as far as it is looked at here. */
interface Health {
  readonly locales?: readonly { readonly locale: string; readonly coverage?: number }[];
}

/** The locales that can be chosen, in order of their tags; none while the service cannot say. */
export async function fetchPublishedLocales(signal: AbortSignal): Promise<PublishedLocale[]> {
  const answer = await fetch("/catalog/health", { signal });
  if (!answer.ok) return [];
  const { locales = [] } = (await answer.json()) as Health; // the service's own document
  return locales
    .map(({ locale, coverage }) => ({ tag: locale, coverage: coverage ?? null }))
    .toSorted((a, b) => a.tag.localeCompare(b.tag, "en"));
}
