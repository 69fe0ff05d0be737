/** The files of `/search/v1`. */
import { CatalogError } from "./api.ts";
import { damaged, JSON_TYPE, load, Refusal, type Source } from "./read-answer.ts";
import { cityNameLocale, type CityNamesFile, isCityNamesFile } from "./search/city-names.ts";
import { isRanksFile, type RanksFile } from "./search/ranks.ts";
import { isOtherNames, type OtherNames } from "./search/search-index.ts";
import { isServedFile, type ServedFile } from "./search/served.ts";

interface FileContents {
  /** Of the places of the catalog. */
  readonly ranks: RanksFile;
  /** The places themselves, where there is no catalog. */
  readonly served: ServedFile;
  readonly names: OtherNames;
  /** Of one language. */
  readonly cities: CityNamesFile;
}

export type FileName = keyof FileContents;

interface KnownFile<Content> {
  readonly etag: string;
  readonly content: Content;
}

/** Null is a file that the service does not have; what is absent has not been fetched. */
export type KnownFiles = {
  readonly [Name in FileName]?: KnownFile<FileContents[Name]> | null;
};

const CHECKS: { readonly [name in FileName]: (content: unknown) => boolean } = {
  ranks: isRanksFile,
  served: isServedFile,
  names: isOtherNames,
  cities: isCityNamesFile,
};

/**
 * Fetches a file, unless the known one is current.
 *
 * @throws CatalogError as `load` does, or if what came is no such file.
 */
export async function fetchFile<Name extends FileName>(
  source: Source,
  name: Name,
  known?: KnownFiles[Name],
): Promise<NonNullable<KnownFiles[Name]> | null> {
  const path = pathOf(name, source.locale);
  if (path === undefined) return null;
  const url = `${source.baseUrl}/search/v1/${path}`;
  try {
    if (known) {
      const { headers } = await load(source, { url, method: "HEAD", type: JSON_TYPE });
      if (headers.get("etag") === known.etag) return known;
    }
    const mayBeCached = known === undefined;
    const { headers, bytes } = await load(source, { url, type: JSON_TYPE, mayBeCached });
    const content = parse(new TextDecoder().decode(bytes));
    if (content === undefined) throw damaged(source.baseUrl);
    if (!CHECKS[name](content)) throw otherForm(source.baseUrl, name);
    const file = { etag: headers.get("etag") ?? "", content };
    return file as unknown as NonNullable<KnownFiles[Name]>; // as the check has found
  } catch (cause) {
    const isMissing = cause instanceof Refusal && cause.status === 404;
    // A service that had it has it: something else answers.
    if (isMissing && !known && name !== "served") return null;
    throw cause;
  }
}

/** Where a file is below `/search/v1/`; undefined if a locale has none. */
export function pathOf(name: FileName, locale = ""): string | undefined {
  if (name !== "cities") return `${name}.json`;
  const known = cityNameLocale(locale);
  return known && `cities/${known}.json`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function otherForm(baseUrl: string, name: FileName): CatalogError {
  const message = `${baseUrl} has another ${name}.json than this package reads: its service is older, or newer`;
  return new CatalogError({ code: "unimplemented", message, retryAfterSeconds: null });
}
