import type { Representation } from "../catalog/manifest.ts";
import type { ChosenVariants } from "./look-up.ts";
import type { RequestHead } from "./request-head.ts";

/**
 * What the router decided about a request: that it is a call which succeeds in this
 * representation, for this tag of `parseLocale`.
 */
export interface Decision {
  readonly representation: Representation;
  readonly tag: string;
  /** What answers it, as far as that was looked up. */
  readonly chosen: ChosenVariants;
}

/** Longest request body that is a key: any locale in any encoding. */
export const DECIDED_BODY_MAX_BYTES = 64;
const URL_MAX_LENGTH = 512;
const MEMO_MAX_ENTRIES = 1024;

/**
 * The router's decisions about short requests. It decides by method, URL, content type, body and
 * what `isDecidedAnew` looks at, so that the same request need not be parsed twice: Connect's pipeline
 * costs several times what sending a stored body does.
 */
export class DecisionMemo {
  readonly #decisions = new Map<string, Decision>();

  /** Decisions remembered at present. */
  get size(): number {
    return this.#decisions.size;
  }

  get(key: string): Decision | undefined {
    return this.#decisions.get(key);
  }

  set(key: string, decision: Decision): void {
    if (this.#decisions.size >= MEMO_MAX_ENTRIES) this.#decisions.clear();
    this.#decisions.set(key, decision);
  }
}

/** Key of a request whose decision holds for all that are like it, else undefined. */
export function decisionKey(request: RequestHead, body: Uint8Array): string | undefined {
  const { method, url, contentType } = request;
  if (url.length > URL_MAX_LENGTH || body.byteLength > DECIDED_BODY_MAX_BYTES) return undefined;
  if (isDecidedAnew(request)) return undefined;
  const asked = method === "HEAD" ? "GET" : method;
  // The body comes last: there is no line break in what is before it.
  return `${asked}\n${contentType}\n${url}\n${String.fromCharCode(...body)}`;
}

/** Whether there is a deadline or a coding: what they ask for is decided for each request. */
function isDecidedAnew({ method, headers, isGrpcWeb, timeout }: RequestHead): boolean {
  if (timeout !== null) return true;
  return method === "POST" && headers.has(isGrpcWeb ? "grpc-encoding" : "content-encoding");
}
