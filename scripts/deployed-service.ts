import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { askHealth, describeFetchError, describeLag, type Health } from "./catalog-health.ts";
import { DeployError } from "./deploy-error.ts";
import type { AdminCall } from "./ingest-progress.ts";
import { parseJson } from "../src/parse-json.ts";

/** How long to wait for a service that comes up elsewhere. */
export interface Patience {
  readonly pollMs: number;
  /** For a new address to answer: its DNS entry and certificate take some minutes. */
  readonly answerMs: number;
  /** For a service that has answered, to answer again. */
  readonly silenceMs: number;
  /** Longest pause that a Retry-After of the service is granted. */
  readonly retryAfterMs: number;
}

export const PATIENCE: Patience = {
  pollMs: 1_000,
  answerMs: 600_000,
  silenceMs: 60_000,
  retryAfterMs: 10_000,
};

const CALL_DEADLINE_MS = 120_000;

const problem = z.object({ detail: z.string() });

/**
 * Waits until the service says how it is, and that it serves a generation or newer.
 *
 * @param generation 0 to be content with any answer.
 * @throws DeployError if it does not in time.
 */
export async function untilServed(
  url: string,
  generation: number,
  { pollMs, answerMs }: Patience,
): Promise<Health> {
  const deadline = Date.now() + answerMs;
  let last = "no answer";
  do {
    const seen = await askHealth(url, AbortSignal.timeout(CALL_DEADLINE_MS));
    if (seen.ok && (seen.health.version ?? 0) >= generation) return seen.health;
    last = describeLag(seen);
    await sleep(pollMs);
  } while (Date.now() < deadline);
  throw new DeployError(
    `The Worker is deployed, but ${url}/catalog/health does not answer as it should: ${last}.\nA new address can take some minutes. Open it in a browser; when it answers, run the same command again. If it never does, "npx wrangler tail" shows what the Worker logs.`,
  );
}

export interface AdminAccess {
  readonly token: string;
  /**
   * Isolates of the version before may not know it for a moment: they answer 401, and 429 after too
   * many of those. Where it is known it is never refused for them.
   */
  readonly isNew: boolean;
}

/**
 * Calls admin routes of a deployed service, again and again while it is silent. Queueing twice does
 * no harm: the second call gets the run that waits already.
 */
export function adminCaller(url: string, access: AdminAccess, patience: Patience): AdminCall {
  return async (method, path) => {
    const deadline = Date.now() + patience.silenceMs;
    for (;;) {
      const answer = await callOnce(`${url}${path}`, method, access.token);
      if (answer.ok) return answer.body;
      const remainingMs = deadline - Date.now();
      if (!mayPass(answer, access) || remainingMs <= 0)
        throw new DeployError(
          `The Worker is deployed, but the ingest cannot be followed. ${method} ${url}${path}: ${answer.problem}`,
        );
      await sleep(Math.min(pauseMs(answer, patience), remainingMs));
    }
  };
}

function mayPass({ status }: Refusal, { isNew }: AdminAccess): boolean {
  return status >= 500 || (isNew && (status === 401 || status === 429));
}

/** As long as the service asks for, within bounds: what it waits for may be over much earlier. */
function pauseMs({ retryAfterMs }: Refusal, patience: Patience): number {
  return Math.max(patience.pollMs, Math.min(retryAfterMs, patience.retryAfterMs));
}

interface Refusal {
  readonly ok: false;
  readonly problem: string;
  readonly status: number;
  /** 0 if the service does not say. */
  readonly retryAfterMs: number;
}

type CallAnswer = { readonly ok: true; readonly body: unknown } | Refusal;

/** Stands for an answer that did not come at all. */
const NO_ANSWER = 599;

async function callOnce(url: string, method: string, token: string): Promise<CallAnswer> {
  try {
    const answer = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(CALL_DEADLINE_MS),
    });
    const body = parseJson(await answer.text());
    if (answer.ok) return { ok: true, body };
    const { status, headers } = answer;
    const retryAfterMs = readRetryAfter(headers);
    return { ok: false, problem: describeRefusal(status, body), status, retryAfterMs };
  } catch (error) {
    return { ok: false, problem: describeFetchError(error), status: NO_ANSWER, retryAfterMs: 0 };
  }
}

/** The Retry-After of an answer; this service gives seconds (RFC 9110, section 10.2.3). */
function readRetryAfter(headers: Headers): number {
  const seconds = Number(headers.get("retry-after"));
  return Number.isFinite(seconds) ? seconds * 1_000 : 0;
}

function describeRefusal(status: number, body: unknown): string {
  if (status === 401)
    return "The service does not know this admin token. Give the right one in ADMIN_TOKEN, or replace all that it knows: --new-token";
  const parsed = problem.safeParse(body);
  return parsed.success ? `${status}, ${parsed.data.detail}` : `status ${status}`;
}
