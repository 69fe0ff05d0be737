/** A part of a page of the documentation, for the search. */
export interface DocsSection {
  readonly page: string;
  /** Empty for what comes before the first heading. */
  readonly heading: string;
  readonly href: string;
  readonly text: string;
}
