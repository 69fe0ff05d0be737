import { type Table, TABLES } from "./source-file.ts";

/** URLs of OurAirports' files; `parseSourceUrl` must accept each. */
export type SourceUrls = { readonly [T in Table]: string };

/** URLs of the live files, comma-separated. */
export const LIVE_URLS = TABLES.map(
  (table) => `https://davidmegginson.github.io/ourairports-data/${table}`,
).join(",");

/** Parses the URLs of all files. Problems continue a sentence that begins with the setting. */
export function parseSourceUrls(
  urls: readonly string[],
):
  | { readonly ok: true; readonly urls: SourceUrls }
  | { readonly ok: false; readonly problems: readonly string[] } {
  const [airports, regions, ...more] = urls;
  if (airports === undefined || regions === undefined || more.length > 0)
    return { ok: false, problems: [`must be two URLs: of ${TABLES.join(" and of ")}`] };
  const problems = urls.flatMap((url) => {
    const parsed = parseSourceUrl(url);
    return parsed.ok ? [] : [`"${url}" ${parsed.problem}`];
  });
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, urls: { "airports.csv": airports, "regions.csv": regions } };
}

/** Parses the URL of an upstream file. `problem` continues a sentence that begins with the URL. */
export function parseSourceUrl(
  text: string,
): { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly problem: string } {
  if (!URL.canParse(text)) return { ok: false, problem: "is not a URL" };
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return { ok: false, problem: "is neither http nor https" };
  if (url.username !== "" || url.password !== "")
    return { ok: false, problem: "has a user name or password" };
  return { ok: true, url };
}
