import { sessionToken } from "./session-token.ts";

export type AdminResult<T> =
  { readonly ok: true; readonly body: T } | { readonly ok: false; readonly failure: AdminFailure };

export interface AdminFailure {
  readonly kind: "unauthenticated" | "forbidden" | "missing" | "refused" | "unreachable";
  /** Message of the service, or advice if it sent none. */
  readonly message: string;
  /** Stable code of the problem; empty if the service sent none. */
  readonly code: string;
  /** Id of the request in the log; empty if the service sent none. */
  readonly requestId: string;
}

export interface AdminRequest {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body?: object;
  /** The same for all repetitions of a request. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** A problem of the service (RFC 9457). */
interface Problem {
  readonly code?: string;
  readonly detail?: string;
  readonly request_id?: string;
}

/**
 * Calls the service's plain HTTP routes. Never rejects. The body comes from the same deployment as
 * this page and is not validated; it is {} for an answer without a body.
 */
export async function askAdmin<T>(request: AdminRequest): Promise<AdminResult<T>> {
  try {
    const answer = await send(request);
    // Cloudflare Access redirects people without a session to its own page.
    if (answer.type === "opaqueredirect") return fail("unauthenticated", SIGNED_OUT);
    if (isAnswer(answer)) {
      const body: unknown = answer.status === NO_CONTENT ? {} : await answer.json();
      return { ok: true, body: body as T };
    }
    const problem = (await answer.json().catch(() => ({}))) as Problem;
    const detail = answer.status === UNAUTHORIZED ? NOT_ACCEPTED : problem.detail;
    return fail(kindOf(answer.status, problem.code), detail ?? `Status ${answer.status}.`, problem);
  } catch {
    return fail("unreachable", "The service does not answer. Check the connection.");
  }
}

const NO_CONTENT = 204;
const UNAUTHORIZED = 401;
const NOT_ACCEPTED = "That token was not accepted.";
const SIGNED_OUT =
  "You have no session of Cloudflare Access. Open /admin/whoami in another tab, sign in there, then reload this page.";

function send({
  method = "GET",
  path,
  body,
  idempotencyKey,
  signal,
}: AdminRequest): Promise<Response> {
  const headers = new Headers({ accept: "application/json" });
  const token = sessionToken();
  if (token !== null && path.startsWith("/admin/")) headers.set("authorization", `Bearer ${token}`);
  if (body !== undefined) headers.set("content-type", "application/json");
  if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
  return fetch(path, {
    method,
    headers,
    cache: "no-store",
    redirect: "manual",
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  });
}

/** A health document is a valid answer even if it reports a failure. */
function isAnswer(answer: Response): boolean {
  const type = answer.headers.get("content-type") ?? "";
  return answer.ok || type.startsWith("application/health+json");
}

function kindOf(status: number, code: string | undefined): AdminFailure["kind"] {
  // After too many failures the service no longer says that the credential is invalid.
  if (status === UNAUTHORIZED || code === "too_many_failures") return "unauthenticated";
  if (status === 403) return "forbidden";
  if (status === 404) return "missing";
  return "refused";
}

function fail(
  kind: AdminFailure["kind"],
  message: string,
  problem: Problem = {},
): AdminResult<never> {
  const { code = "", request_id: requestId = "" } = problem;
  return { ok: false, failure: { kind, message, code, requestId } };
}
