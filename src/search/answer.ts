/** Answers `/search/v1/suggest`: the usual request without the code of the routes, which takes 20 ms to start. */
import { digestHex } from "../catalog/bytes.ts";
import { parseLocale } from "../catalog/locale.ts";
import { matchesEntityTag } from "../rpc/preconditions.ts";
import type { Suggest, Suggestions, Wanted } from "./suggester.ts";

const ETAG_DIGITS = 32;
/** As `web/pages/headers.txt` has it for the files below `/search`. */
const FRESH_FOR_A_DAY = "public, max-age=86400, stale-while-revalidate=2592000";

/** The headers that the router gives each public answer, as far as browsers need them for data. */
const OF_PUBLIC = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ETag,Retry-After",
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
};

/** What is suggested, or that the client has it. */
export async function answerSuggestions({ locale, suggestions }: Suggestions, sent: Headers) {
  const body = Uint8Array.from(new TextEncoder().encode(JSON.stringify({ suggestions })));
  const headers = {
    etag: `"${(await digestHex(body)).slice(0, ETAG_DIGITS)}"`,
    "cache-control": FRESH_FOR_A_DAY,
    "content-language": locale,
  };
  return matchesEntityTag(sent.get("if-none-match") ?? "", headers.etag)
    ? { status: 304 as const, headers }
    : { status: 200 as const, headers, body: body.buffer };
}

/** Answers as the route does; undefined for a request that is not quite usual, or if that fails. */
export async function answerUsual(
  { method, url, headers: sent }: Request,
  suggest: Suggest,
  defaultLocale: string,
): Promise<Response | undefined> {
  const wanted = method === "GET" ? readUsual(new URL(url).searchParams, defaultLocale) : undefined;
  const found = wanted && (await suggest(wanted).catch(() => undefined));
  if (found === undefined) return undefined;
  const { status, headers, body = null } = await answerSuggestions(found, sent);
  return new Response(body, { status, headers: { ...OF_PUBLIC, ...headers } });
}

/** Reads a query that has each parameter at most once, and no other. */
function readUsual(query: URLSearchParams, defaultLocale: string): Wanted | undefined {
  const { q: typed, locale = "", limit = "8", ...others } = Object.fromEntries(query);
  const areTwice = query.size > new Set(query.keys()).size;
  const parsed = parseLocale(locale);
  const isUsual = Object.keys(others).length === 0 && !areTwice && /^[1-8]$/.test(limit);
  if (typed === undefined || !isUsual || !parsed.ok) return undefined;
  return { typed, locale: parsed.tag || defaultLocale, limit: Number(limit) };
}
