import { concatenate, sha256Hex } from "../catalog/bytes.ts";
import { parseRetryAfter } from "../platform/http-dates.ts";
import type { DurationMs, EpochMs } from "../platform/units.ts";
import { ourAirports } from "./our-airports.ts";
import { TransientSourceError, SourceError } from "./source-error.ts";
import { dated, findFile, nameFile, type Table, TABLES, tooLarge } from "./source-file.ts";
import type { ArchivedFiles, Upstream, UpstreamFile, Validators } from "./upstream.ts";

/** Longest time for all requests of a fetch. It ends before the watchdog. */
export const HTTP_DEADLINE_MS = 60_000;

export interface HttpUpstreamOptions {
  readonly urls: SourceUrls;
  /** Other hosts that a redirect may end at, with a port unless it is the default. */
  readonly allowedHosts: readonly string[];
  /** Limit of a file's bytes, as announced and as decoded. */
  readonly maxBytes: number;
  readonly deadlineMs: DurationMs;
  /** The platform's `fetch`. Must work without `this`. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly now: () => EpochMs;
}

interface Session extends Omit<HttpUpstreamOptions, "urls" | "allowedHosts"> {
  readonly hosts: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/**
 * Fetches OurAirports' files over HTTP, one after the other. If upstream changes in between, the files
 * are of two days. That does no harm, because each change waits for days anyway.
 *
 * Makes each request once. The platform follows redirects, and only the URL where they end is checked:
 * its host must be that of a configured URL or an allowed one.
 */
export function httpUpstream({ urls, allowedHosts, ...options }: HttpUpstreamOptions): Upstream {
  const files = TABLES.map((table) => ({ table, url: readUrl(table, urls[table]) }));
  const hosts = new Set(files.map(({ url }) => url.host));
  for (const host of allowedHosts) hosts.add(host.toLowerCase());
  return {
    reader: ourAirports,
    async fetch(archived = {}) {
      const closing = new AbortController();
      const signal = AbortSignal.any([AbortSignal.timeout(options.deadlineMs), closing.signal]);
      const session = { ...options, hosts, signal };
      try {
        const fetched: UpstreamFile[] = [];
        for (const { table, url } of files)
          fetched.push(await fetchFile(table, url, { archived, session }));
        return fetched;
      } finally {
        // Closes the connections whose bodies were not read.
        closing.abort();
      }
    },
  };
}

function readUrl(table: Table, text: string): URL {
  const parsed = parseSourceUrl(text);
  if (!parsed.ok) throw new Error(`the URL of ${table} ${parsed.problem}`);
  return parsed.url;
}

/** Fetches a file unless the archived version is still current. */
async function fetchFile(
  table: Table,
  url: URL,
  { archived, session }: { archived: ArchivedFiles; session: Session },
): Promise<UpstreamFile> {
  const origin = sha256Hex(url.href);
  const found = findFile(table, archived);
  const known = found?.file.origin === origin ? found.file : undefined;
  const response = await request(url, known ?? {}, session);
  if (response.status === 304 && found !== undefined && known !== undefined) {
    const date = dated(known.last_modified, session.now());
    return { name: found.name, unchangedSha256: known.sha256, ...date };
  }
  const bytes = await readBody(response, url, session);
  const { maxBytes } = session;
  const name = nameFile(table, { where: describeUrl(url), bytes, maxBytes });
  const validators: Validators = { origin, ...readValidators(response) };
  return { name, bytes, ...dated(validators.last_modified, session.now()), ...validators };
}

function readValidators({ headers }: Response): Validators {
  const etag = headers.get("etag");
  const last_modified = headers.get("last-modified");
  return {
    ...(etag !== null && { etag }),
    ...(last_modified !== null && { last_modified }),
  };
}

/**
 * Requests a file and follows redirects.
 *
 * @param known validators of the archived version; `{}` for none.
 * @returns a response with status 200, or 304 for a conditional request.
 * @throws SourceError `unreachable`, `deadline`, `redirect_refused`, `http_status` or `http_refused`.
 */
async function request(
  url: URL,
  { etag, last_modified }: Validators,
  session: Session,
): Promise<Response> {
  const where = describeUrl(url);
  const { fetch, hosts, signal, now } = session;
  const headers = {
    accept: "text/csv, */*;q=0.1",
    // Workers and Node both decode it.
    "accept-encoding": "gzip",
    "user-agent": "locations-at-the-edge",
    ...(etag !== undefined && { "if-none-match": etag }),
    ...(last_modified !== undefined && { "if-modified-since": last_modified }),
  };
  let response: Response;
  try {
    // Without no-store an edge cache would answer instead of upstream and hide a change.
    response = await fetch(url.href, { headers, redirect: "follow", cache: "no-store", signal });
  } catch (cause) {
    const text = `${where} cannot be reached${describeCause(cause)}; check the host and the network`;
    throw deadlineOf(where, session) ?? new TransientSourceError("unreachable", text);
  }
  checkFinalUrl(url, response.url, hosts);
  const { status } = response;
  const waitMs = parseRetryAfter(response.headers.get("retry-after"), now());
  const isConditional = etag !== undefined || last_modified !== undefined;
  if (status === 200 || (status === 304 && isConditional)) return response;
  // GitHub limits the rate with 403 and Retry-After.
  const isTransient =
    status >= 500 || [408, 429].includes(status) || (status >= 400 && waitMs !== null);
  if (!isTransient)
    throw new SourceError("http_refused", `${where} answers ${status}; check the URL`);
  const wait = waitMs === null ? "" : ` and asks to be left alone for ${waitMs / 1000} s`;
  throw new TransientSourceError(
    "http_status",
    `${where} answers ${status}${wait}; try again later`,
    waitMs,
  );
}

/** @throws SourceError `redirect_refused`. */
function checkFinalUrl(start: URL, end: string, hosts: ReadonlySet<string>): void {
  const refuse = (what: string) =>
    new SourceError(
      "redirect_refused",
      `${describeUrl(start)} redirects to ${what}; check the URL and the allowed hosts`,
    );
  const parsed = parseSourceUrl(end);
  if (!parsed.ok) throw refuse(`a URL that ${parsed.problem}`);
  const { url } = parsed;
  if (!hosts.has(url.host)) throw refuse(`${describeUrl(url)}, which is not on an allowed host`);
  if (start.protocol === "https:" && url.protocol === "http:")
    throw refuse(`${describeUrl(url)}, which leaves https`);
}

/**
 * Reads a body that the platform decodes. Buffers at most `maxBytes` and one chunk, and twice that
 * while it joins the chunks.
 *
 * The platform detects a body that is shorter than its Content-Length, and workerd also truncated gzip.
 * Both cut a longer body; only the CSV reader detects that.
 *
 * @throws SourceError `too_large`, `deadline` or `broken_off`.
 */
async function readBody(response: Response, url: URL, session: Session): Promise<Uint8Array> {
  const where = describeUrl(url);
  const { maxBytes } = session;
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of response.body ?? []) {
      length += chunk.length;
      if (length > maxBytes) throw tooLarge(where, maxBytes);
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof SourceError) throw cause;
    const text = `${where} was interrupted, or cannot be decoded, after ${length} bytes${describeCause(cause)}; try again later`;
    throw deadlineOf(where, session) ?? new TransientSourceError("broken_off", text);
  }
  return concatenate(chunks);
}

/** The fault of a request, if the deadline has ended it. */
function deadlineOf(
  where: string,
  { signal, deadlineMs }: Session,
): TransientSourceError | undefined {
  if (!signal.aborted) return undefined;
  return new TransientSourceError(
    "deadline",
    `${where} was not complete within the ${deadlineMs / 1000} s that all files may take; try again later`,
  );
}

/** Describes the platform's error for people, without URLs. */
function describeCause(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const text = cause instanceof Error ? cause.message : String(cause);
  return text === "" ? "" : ` (${text.replace(/\b[a-z]+:\/\/\S+/gi, "…")})`;
}

/** Shortens a URL for messages and logs, without credentials, query and fragment. */
function describeUrl({ host, pathname }: URL): string {
  return `${host}${pathname}`.slice(0, 200);
}

/** URLs of OurAirports' files; `parseSourceUrl` must accept each. */
export type SourceUrls = { readonly [T in Table]: string };

/** URLs of the live files, comma-separated. */
export const LIVE_URLS = TABLES.map(
  (table) => `https://davidmegginson.github.io/ourairports-data/${table}`,
).join(",");

/** Parses the URLs of all files. Problems continue a sentence that starts with the setting. */
export function parseSourceUrls(
  urls: readonly string[],
):
  | { readonly ok: true; readonly urls: SourceUrls }
  | { readonly ok: false; readonly problems: readonly string[] } {
  const [airports, regions, ...more] = urls;
  if (airports === undefined || regions === undefined || more.length > 0)
    return { ok: false, problems: [`must be two URLs: of ${TABLES.join(" and of ")}`] };
  // A URL may contain a password, so it is not repeated.
  const problems = TABLES.flatMap((table, index) => {
    const parsed = parseSourceUrl(urls[index] ?? "");
    return parsed.ok ? [] : [`has a URL of ${table} that ${parsed.problem}`];
  });
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, urls: { "airports.csv": airports, "regions.csv": regions } };
}

/** Parses the URL of an upstream file. `problem` continues a sentence that starts with the URL. */
function parseSourceUrl(
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
