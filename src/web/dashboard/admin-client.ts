import { sessionToken } from "./session-token.ts";

export type AdminResult<T> =
  { readonly ok: true; readonly body: T } | { readonly ok: false; readonly failure: AdminFailure };

export interface AdminFailure {
  readonly kind: "unauthenticated" | "forbidden" | "missing" | "refused" | "unreachable";
  /** What the service says, or what to do where it says nothing. */
  readonly message: string;
  /** Stable word of the problem; empty where the service sent none. */
  readonly code: string;
  /** The request's id in the log; empty where the service sent none. */
  readonly requestId: string;
}

export interface AdminRequest {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body?: object;
  readonly signal?: AbortSignal;
}

/** A problem as the service sends it (RFC 9457). */
interface Problem {
  readonly code?: string;
  readonly detail?: string;
  readonly request_id?: string;
}

/**
 * Asks the service's plain HTTP routes. Never rejects. The body is the service's own document,
 * from the same deployment as this page, and not checked again; of an answer without one it is {}.
 */
export async function askAdmin<T>(request: AdminRequest): Promise<AdminResult<T>> {
  try {
    const answer = await send(request);
    // Cloudflare Access sends people whose session has ended to its own page.
    if (answer.type === "opaqueredirect") return fail("unauthenticated", SIGNED_OUT);
    if (isAnswer(answer)) {
      const body: unknown = answer.status === NO_CONTENT ? {} : await answer.json();
      return { ok: true, body: body as T };
    }
    const problem = (await answer.json().catch(() => ({}))) as Problem;
    return fail(
      kindOf(answer.status, problem.code),
      problem.detail ?? `Status ${answer.status}.`,
      problem,
    );
  } catch {
    return fail("unreachable", "The service does not answer. Check the connection.");
  }
}

const NO_CONTENT = 204;
const SIGNED_OUT = "The sign-in has ended: load the page again.";

function send({ method = "GET", path, body, signal }: AdminRequest): Promise<Response> {
  const headers = new Headers({ accept: "application/json" });
  const token = sessionToken();
  if (token !== null && path.startsWith("/admin/")) headers.set("authorization", `Bearer ${token}`);
  if (body !== undefined) headers.set("content-type", "application/json");
  return fetch(path, {
    method,
    headers,
    cache: "no-store",
    redirect: "manual",
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  });
}

/** Health documents are answers even where they say that something fails. */
function isAnswer(answer: Response): boolean {
  const type = answer.headers.get("content-type") ?? "";
  return answer.ok || type.startsWith("application/health+json");
}

function kindOf(status: number, code: string | undefined): AdminFailure["kind"] {
  // Of too many, the service no longer says that their credential is not valid.
  if (status === 401 || code === "too_many_failures") return "unauthenticated";
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
