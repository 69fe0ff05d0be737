import { describeUrl, type FetchPolicy } from "./fetch-policy.ts";
import type { Deadline } from "./request-deadline.ts";
import { parseRetryAfter } from "./retries.ts";
import { PassingError, SourceError } from "./source-error.ts";
import type { Validators } from "./upstream.ts";

/** The part of the platform's `fetch` that an upstream uses. */
export type Fetch = (
  url: string,
  init: {
    readonly headers: Record<string, string>;
    readonly redirect: "manual";
    readonly cache: "no-store";
    readonly signal: AbortSignal;
  },
) => Promise<Response>;

export interface RequestDependencies {
  readonly fetch: Fetch;
  readonly policy: FetchPolicy;
  readonly deadline: Deadline;
  readonly now: () => number;
}

const MAX_REDIRECTS = 5;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Statuses worth a retry. The last five are Cloudflare's for a faulty origin. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([
  408, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524,
]);

/**
 * Requests a file once and follows the redirects that the policy allows.
 *
 * @param known validators of the archived version; `{}` for none.
 * @returns a response with status 200, or 304 for a conditional request.
 * @throws SourceError `unreachable`, `http_status`, `http_refused`, `redirect_refused` or `deadline`.
 */
export async function requestFile(
  start: URL,
  { known, signal }: { known: Validators; signal: AbortSignal },
  dependencies: RequestDependencies,
): Promise<Response> {
  const headers = requestHeaders(known);
  let url = start;
  for (let redirects = 0; ; redirects++) {
    const response = await exchange(url, { headers, signal }, dependencies);
    if (!REDIRECT_STATUSES.has(response.status))
      return checkStatus(response, url, { known, now: dependencies.now() });
    await response.body?.cancel().catch(() => {});
    if (redirects === MAX_REDIRECTS)
      throw new SourceError(
        "redirect_refused",
        `${describeUrl(start)} redirects more than ${MAX_REDIRECTS} times; configure the URL that it ends at`,
      );
    url = redirectTarget(url, response.headers.get("location"), dependencies.policy);
  }
}

/** Requests only gzip, because Workers and Node both decode it. */
function requestHeaders({ etag, last_modified }: Validators): Record<string, string> {
  return {
    accept: "text/csv, */*;q=0.1",
    "accept-encoding": "gzip",
    "user-agent": "locations-at-the-edge",
    ...(etag !== undefined && { "if-none-match": etag }),
    ...(last_modified !== undefined && { "if-modified-since": last_modified }),
  };
}

async function exchange(
  url: URL,
  { headers, signal }: { headers: Record<string, string>; signal: AbortSignal },
  { fetch, deadline }: RequestDependencies,
): Promise<Response> {
  try {
    // Otherwise an edge cache would answer instead of upstream and hide a change.
    const init = { headers, redirect: "manual", cache: "no-store", signal } as const;
    return await deadline.wait(describeUrl(url), fetch(url.href, init));
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new PassingError(
      "unreachable",
      `${describeUrl(url)} cannot be reached${describeCause(error)}; check the host and the network`,
    );
  }
}

function redirectTarget(from: URL, location: string | null, policy: FetchPolicy): URL {
  const refuse = (what: string) =>
    new SourceError(
      "redirect_refused",
      `${describeUrl(from)} redirects to ${what}; check the URL and the allowed hosts`,
    );
  if (location === null || !URL.canParse(location, from.href)) throw refuse("no URL");
  const target = new URL(location, from.href);
  const problem = policy(target);
  if (problem !== null) throw refuse(`${describeUrl(target)}, which ${problem}`);
  if (from.protocol === "https:" && target.protocol === "http:")
    throw refuse(`${describeUrl(target)}, which leaves https`);
  return target;
}

function checkStatus(
  response: Response,
  url: URL,
  { known, now }: { known: Validators; now: number },
): Response {
  const { status } = response;
  const isConditional = known.etag !== undefined || known.last_modified !== undefined;
  if (status === 200 || (status === 304 && isConditional)) return response;
  if (!PASSING_STATUSES.has(status))
    throw new SourceError("http_refused", `${describeUrl(url)} answers ${status}; check the URL`);
  throw new PassingError(
    "http_status",
    `${describeUrl(url)} answers ${status}; try again later`,
    parseRetryAfter(response.headers.get("retry-after"), now),
  );
}

/** Describes the platform's error for people, without URLs. */
export function describeCause(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const text = cause instanceof Error ? cause.message : String(cause);
  return text === "" ? "" : ` (${text.replace(/\b[a-z]+:\/\/\S+/gi, "…")})`;
}
