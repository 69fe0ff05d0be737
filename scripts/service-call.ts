/** Calls of a running service, here or deployed. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { parseJson } from "../src/platform/parse-json.ts";

const CALL_DEADLINE_MS = 120_000;
const METHOD = "/locations.v1.LocationsService/GetLocationsV1";
const LISTS = ["airports", "cities", "countries", "regions"] as const;

/** The URL at which the catalog is called. */
export function callUrl(url: string): string {
  return `${url}${METHOD}`;
}

/** The answer of an admin route; `status` is 0 if there is none. */
export type AdminAnswer =
  | { readonly ok: true; readonly body: unknown }
  | {
      readonly ok: false;
      readonly status: number;
      /** Code of the problem, such as `other_version`; null if there is none. */
      readonly code: string | null;
      readonly problem: string;
    };

export type AdminCall = (method: "GET" | "POST", path: string) => Promise<AdminAnswer>;

const problemDetails = z.object({ detail: z.string(), code: z.string().nullable().default(null) });

/** Calls admin routes with a token; `signal` cuts a call off. */
export function adminCaller(url: string, token: string, signal?: AbortSignal): AdminCall {
  return async (method, path) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await send(url + path, { method, headers }, signal);
    if (typeof answer === "string")
      return { ok: false, status: 0, code: null, problem: `${method} ${path}: ${answer}` };
    const { status, body } = answer;
    if (status < 400) return { ok: true, body };
    const { detail = "no reason", code = null } = problemDetails.safeParse(body).data ?? {};
    return { ok: false, status, code, problem: `${method} ${path}: ${status}, ${detail}` };
  };
}

const backupList = z.object({ backups: z.array(z.object({ state: z.string() })) });

/** Whether the service has a backup to restore; false if unknown. */
export async function hasBackup(call: AdminCall): Promise<boolean> {
  const answer = await call("GET", "/admin/backup/list?limit=100");
  const list = answer.ok ? backupList.safeParse(answer.body).data : undefined;
  return list?.backups.some(({ state }) => state === "complete") ?? false;
}

/** The service's answer to a client. */
export type Served =
  | { readonly ok: true; readonly generation: number; readonly counts: string }
  | {
      readonly ok: false;
      /** 0 where there is no answer. */
      readonly status: number;
      /** Code of the Connect error; null if another server has answered. */
      readonly code: string | null;
      readonly problem: string;
    };

const catalog = z.object(Object.fromEntries(LISTS.map((list) => [list, z.array(z.unknown())])));
const connectError = z.object({ code: z.string(), message: z.string().default("") });

/** Calls the service as a client does; `signal` cuts the call off. */
export async function callCatalog(url: string, signal?: AbortSignal): Promise<Served> {
  const headers = { "content-type": "application/json" };
  const answer = await send(callUrl(url), { method: "POST", headers, body: "{}" }, signal);
  if (typeof answer === "string") return { ok: false, status: 0, code: null, problem: answer };
  const lists = catalog.safeParse(answer.body).data;
  const { status } = answer;
  if (status === 200 && lists !== undefined) {
    const counts = LISTS.map((list) => `${lists[list]?.length} ${list}`).join(", ");
    return { ok: true, generation: Number(answer.headers.get("catalog-version")), counts };
  }
  const error = connectError.safeParse(answer.body).data;
  if (error === undefined) return { ok: false, status, code: null, problem: `status ${status}` };
  return { ok: false, status, code: error.code, problem: `${error.code}, ${error.message}` };
}

interface Wait {
  readonly pollMs: number;
  readonly deadlineMs: number;
  /** Ends the wait with an error when it aborts. */
  readonly signal: AbortSignal;
}

/** Calls the service until an answer is final, or the time is up. Returns the last answer. */
export async function untilServed(
  url: string,
  isEnough: (served: Served) => boolean,
  { pollMs, deadlineMs, signal }: Wait,
): Promise<Served> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const served = await callCatalog(url, signal);
    if (isEnough(served) || Date.now() > deadline) return served;
    await sleep(pollMs, undefined, { signal });
  }
}

/** The answer, or why there is none. */
async function send(url: string, init: RequestInit, cutOff?: AbortSignal) {
  const deadline = AbortSignal.timeout(CALL_DEADLINE_MS);
  const signal = cutOff === undefined ? deadline : AbortSignal.any([deadline, cutOff]);
  try {
    const answer = await fetch(url, { ...init, signal });
    const { status, headers } = answer;
    return { status, headers, body: parseJson(await answer.text()) };
  } catch (error) {
    if (!(error instanceof Error)) return String(error);
    // The cause of a `fetch` error is more informative than the error.
    return error.cause instanceof Error ? `no answer (${error.cause.message})` : error.message;
  }
}
