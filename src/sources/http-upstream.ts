import { createFetchPolicy, parseSourceUrl } from "./fetch-policy.ts";
import { type FetchedFile, fetchHttpFile, hasChanged, type HttpFile } from "./http-file.ts";
import type { HttpFileDependencies } from "./http-file.ts";
import type { Fetch } from "./http-request.ts";
import { type DeadlineLimits, startDeadline } from "./request-deadline.ts";
import type { RetryLimits } from "./retries.ts";
import { type Table, TABLES } from "./source-file.ts";
import { PassingError } from "./source-error.ts";
import type { ArchivedFiles, Upstream } from "./upstream.ts";

/** URLs of the upstream files, each of which `parseSourceUrl` accepts. */
export type SourceUrls = { readonly [T in Table]: string };

export interface HttpLimits extends DeadlineLimits, RetryLimits {
  /** Most bytes of a file, as announced and as decoded. */
  readonly maxBytes: number;
}

/** All requests together end before the coordinator's watchdog wakes. */
export const HTTP_LIMITS: Omit<HttpLimits, "maxBytes"> = {
  totalMs: 90_000,
  idleMs: 15_000,
  maxAttempts: 4,
  backoffMs: 500,
  maxBackoffMs: 8_000,
  maxRetryAfterMs: 30_000,
};

export interface HttpUpstreamOptions {
  readonly urls: SourceUrls;
  /** Hosts that redirects may lead to besides those of `urls`, with their port if it is unusual. */
  readonly allowedHosts: readonly string[];
  readonly limits: HttpLimits;
  /** Is called without a `this`. Redirects and caching are left to the caller. */
  readonly fetch: Fetch;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** From 0 to 1, as Math.random. */
  readonly random: () => number;
}

/** How often a fetch begins anew because upstream has changed under it. */
const MAX_RESTARTS = 2;

/**
 * Airports and regions over HTTP, both of one version as far as can be told: once the last file is
 * there, upstream is asked whether the ones before it are still current. That needs ETag or
 * Last-Modified; without them a change between two files goes unseen.
 */
export function httpUpstream(options: HttpUpstreamOptions): Upstream {
  const { urls, allowedHosts, limits, fetch, now, sleep, random } = options;
  const files = TABLES.map((table): HttpFile => ({ table, url: readUrl(table, urls[table]) }));
  const policy = createFetchPolicy(
    files.map(({ url }) => url),
    allowedHosts,
  );
  return {
    name: "ourairports",
    async fetch(archived = {}) {
      const deadline = startDeadline(limits, now);
      const dependencies: HttpFileDependencies = {
        request: { fetch, policy, deadline, now },
        retry: { limits, deadline, sleep, random },
        maxBytes: limits.maxBytes,
      };
      const fetched = await fetchOneVersion(files, archived, dependencies);
      return fetched.map(({ file }) => file);
    },
  };
}

function readUrl(table: Table, text: string): URL {
  const parsed = parseSourceUrl(text);
  if (!parsed.ok) throw new Error(`the URL of ${table} ${parsed.problem}`);
  return parsed.url;
}

async function fetchOneVersion(
  files: readonly HttpFile[],
  archived: ArchivedFiles,
  dependencies: HttpFileDependencies,
): Promise<FetchedFile[]> {
  for (let restarts = 0; restarts <= MAX_RESTARTS; restarts++) {
    const fetched: FetchedFile[] = [];
    for (const file of files) fetched.push(await fetchHttpFile(file, archived, dependencies));
    if (await isOneVersion(files, fetched, dependencies)) return fetched;
  }
  throw new PassingError(
    "changing",
    `upstream changed between two files, ${MAX_RESTARTS + 1} times in a row; try again later`,
  );
}

/** Archived files are of one version with each other, so that one new file is needed to ask. */
async function isOneVersion(
  files: readonly HttpFile[],
  fetched: readonly FetchedFile[],
  dependencies: HttpFileDependencies,
): Promise<boolean> {
  if (!fetched.some(({ file }) => "bytes" in file)) return true;
  for (const [index, file] of files.slice(0, -1).entries()) {
    const before = fetched[index];
    if (before !== undefined && (await hasChanged(file, before, dependencies))) return false;
  }
  return true;
}
