import type { Representation } from "../catalog/manifest.ts";
import { isGrpcWeb } from "./media-type.ts";

/**
 * What the router decided about a request: that it is a call which succeeds in this
 * representation, for this tag of `parseLocale`.
 */
export interface Decision {
  readonly representation: Representation;
  readonly tag: string;
}

/** What of a request its answer depends on, besides its body. */
export interface RequestHead {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** What Cloudflare's edge says of the request; undefined where it did not come through it. */
  readonly cf?: Request["cf"] | undefined;
}

/** Longest request body that is a key: any locale in any encoding. */
export const DECIDED_BODY_MAX_BYTES = 64;
const URL_MAX_LENGTH = 512;
const MEMO_MAX_ENTRIES = 1024;

/**
 * The router's decisions about short requests. It decides by method, URL, content type, body and
 * what `decidedAnew` names, so that the same request need not be parsed twice: Connect's pipeline
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
  const { method, url, headers } = request;
  if (url.length > URL_MAX_LENGTH || body.byteLength > DECIDED_BODY_MAX_BYTES) return undefined;
  const contentType = headers.get("content-type") ?? "";
  for (const name of decidedAnew(method, contentType)) if (headers.has(name)) return undefined;
  const asked = method === "HEAD" ? "GET" : method;
  // The body comes last: there is no line break in what is before it.
  return `${asked}\n${contentType}\n${url}\n${String.fromCharCode(...body)}`;
}

/** Headers with a deadline or a coding: what they ask for is decided for each request. */
function decidedAnew(method: string, contentType: string): readonly string[] {
  if (method !== "POST") return ["connect-timeout-ms"];
  return isGrpcWeb(contentType)
    ? ["grpc-timeout", "grpc-encoding"]
    : ["connect-timeout-ms", "content-encoding"];
}
