import { setTimeout as sleep } from "node:timers/promises";
import { parseJson } from "../../src/platform/parse-json.ts";
import type { Report } from "./report.ts";
import type { Service } from "./service.ts";

/** An answer to an operator. */
export interface AdminAnswer {
  readonly status: number;
  readonly body: unknown;
}

const PATIENCE_MS = 90_000;
const SETTLE_MS = 100;
/** The expected answers to this harness's requests, besides successes. */
const EXPECTED: ReadonlySet<number> = new Set([404, 409, 422, 429, 503]);

interface CallOptions {
  readonly headers?: { readonly [name: string]: string };
  /** Whether any refusal is right, because nobody knows whether the values are acceptable. */
  readonly isHostile?: boolean;
}

/** Calls the routes of operators; what must never be answered there is a violation. */
export class Admin {
  readonly #service: Service;
  readonly #report: Report;
  readonly #token: string;

  constructor(service: Service, report: Report, token: string) {
    this.#service = service;
    this.#report = report;
    this.#token = token;
  }

  /** The answer, or undefined if the process died over the call. */
  async call(
    method: string,
    path: string,
    body?: object,
    { headers = {}, isHostile = false }: CallOptions = {},
  ): Promise<AdminAnswer | undefined> {
    const sentAt = Date.now();
    const what = `${method} ${path} ${body === undefined ? "" : JSON.stringify(body)}`;
    try {
      const answer = await fetch(`http://127.0.0.1:${this.#service.port}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.#token}`,
          "content-type": "application/json",
          ...headers,
        },
        signal: AbortSignal.timeout(PATIENCE_MS),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      const { status } = answer;
      const shown = path.replace(/[?].*|[0-9a-f-]{36}/g, "…");
      this.#report.count(
        "operators",
        isHostile ? `hostile ${method}: ${status}` : `${method} ${shown}: ${status}`,
      );
      const isRefusal = EXPECTED.has(status) || (isHostile && status < 500);
      if (!answer.ok && !isRefusal) {
        this.#report.violate({ invariant: "operators", what: `${what}: ${status} ${text}` });
        return undefined;
      }
      return { status, body: parseJson(text) };
    } catch (cause) {
      await sleep(SETTLE_MS);
      if (!this.#service.wasDead(sentAt, Date.now()))
        this.#report.violate({ invariant: "operators", what: `${what}: ${String(cause)}` });
      return undefined;
    }
  }
}
