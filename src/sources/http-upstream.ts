import { createFetchPolicy, parseSourceUrl } from "./fetch-policy.ts";
import {
  type FetchedFile,
  fetchHttpFile,
  hasChanged,
  type HttpFile,
  type HttpFileDependencies,
} from "./http-file.ts";
import type { Fetch } from "./http-request.ts";
import { type DeadlineLimits, startDeadline } from "./request-deadline.ts";
import type { RetryLimits } from "./retries.ts";
import { type Table, TABLES } from "./source-file.ts";
import { PassingError } from "./source-error.ts";
import type { ArchivedFiles, Upstream } from "./upstream.ts";

/** URLs of the upstream files; `parseSourceUrl` must accept each. */
export type SourceUrls = { readonly [T in Table]: string };

export interface HttpLimits extends DeadlineLimits, RetryLimits {
  /** Limit of the announced and of the decoded bytes of a file. */
  readonly maxBytes: number;
}

/** All requests end before the coordinator's watchdog fires. */
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
  /** Other hosts that redirects may lead to, with a port unless it is the default. */
  readonly allowedHosts: readonly string[];
  readonly limits: HttpLimits;
  /** Must work without `this`. Must not follow redirects or cache. */
  readonly fetch: Fetch;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Returns 0 to 1, like Math.random. */
  readonly random: () => number;
}

/** Most restarts of a fetch because upstream changed between two files. */
const MAX_RESTARTS = 2;

/**
 * Fetches airports and regions over HTTP, both of one version. After the last file it asks upstream
 * whether the earlier files are still current. This check needs ETag or Last-Modified; without them
 * a change between two files stays undetected.
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

/** Archived files already belong together. Only a new file makes the check necessary. */
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
