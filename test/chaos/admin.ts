import { setTimeout as sleep } from "node:timers/promises";
import type { Report } from "./report.ts";
import type { Service } from "./service.ts";

/** An answer to an operator. */
export interface AdminAnswer {
  readonly status: number;
  readonly body: unknown;
}

const PATIENCE_MS = 90_000;
const SETTLE_MS = 100;
/** What the requests of this harness may be told, besides successes. */
const EXPECTED = new Set([404, 409, 422, 429, 503]);

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
  async call(method: string, path: string, body?: object): Promise<AdminAnswer | undefined> {
    const sentAt = Date.now();
    const what = `${method} ${path} ${body === undefined ? "" : JSON.stringify(body)}`;
    try {
      const answer = await fetch(`http://127.0.0.1:${this.#service.port}${path}`, {
        method,
        headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
        signal: AbortSignal.timeout(PATIENCE_MS),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      const { status } = answer;
      this.#report.count(
        "operators",
        `${method} ${path.replace(/[?].*|[0-9a-f-]{36}/g, "…")}: ${status}`,
      );
      if (!answer.ok && !EXPECTED.has(status)) {
        this.#report.violate({ invariant: "operators", what: `${what}: ${status} ${text}` });
        return undefined;
      }
      return { status, body: JSON.parse(text) };
    } catch (cause) {
      await sleep(SETTLE_MS);
      if (!this.#service.wasDead(sentAt, Date.now()))
        this.#report.violate({ invariant: "operators", what: `${what}: ${String(cause)}` });
      return undefined;
    }
  }
}
