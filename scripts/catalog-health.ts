import { z } from "zod";
import { parseJson } from "../src/parse-json.ts";

/** What `GET /catalog/health` says. */
export interface Health {
  readonly status: string;
  /** Generation that is served; undefined while nothing is. */
  readonly version: number | undefined;
  readonly counts: { readonly [list: string]: number };
}

export type HealthAnswer =
  { readonly ok: true; readonly health: Health } | { readonly ok: false; readonly problem: string };

const health = z.object({
  status: z.string(),
  version: z.coerce.number().optional(),
  counts: z.record(z.string(), z.number()).default({}),
});

/** Asks a service how its catalog is; an answer that is none, or none in time, is a problem. */
export async function askHealth(url: string, signal: AbortSignal): Promise<HealthAnswer> {
  try {
    const answer = await fetch(`${url}/catalog/health`, { signal });
    const parsed = health.safeParse(parseJson(await answer.text()));
    if (!parsed.success) return { ok: false, problem: `status ${answer.status}` };
    return { ok: true, health: { ...parsed.data, version: parsed.data.version } };
  } catch (error) {
    return { ok: false, problem: describeFetchError(error) };
  }
}

/** Why an answer does not do to one who waits for a newer generation. */
export function describeLag(answer: HealthAnswer): string {
  return answer.ok ? `it serves version ${answer.health.version ?? "none"}` : answer.problem;
}

/** An error of `fetch`, whose cause says more than itself. */
export function describeFetchError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
