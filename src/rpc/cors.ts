import { cors } from "@connectrpc/connect";
import type { RequestHead } from "./request.ts";

/** How long a browser may cache the answer to a preflight. */
const PREFLIGHT_MAX_AGE_SECONDS = 7200;

const EXPOSED_HEADERS = [
  ...cors.exposedHeaders,
  "Cache-Control",
  "Catalog-Sha256",
  "Catalog-Version",
  "Content-Language",
  "ETag",
  "Last-Modified",
  "Repr-Digest",
  "Locale-Fallback",
  "Retry-After",
  "Vary",
].join(", ");

/** Lets scripts of any origin read an answer, without credentials: the catalog is public. */
export function allowAnyOrigin(headers: Headers): Headers {
  headers.set("access-control-allow-origin", "*");
  headers.set("access-control-expose-headers", EXPOSED_HEADERS);
  return headers;
}

/** Whether a request is a CORS preflight (Fetch, section 4.8). */
export function isPreflight(request: RequestHead): boolean {
  return (
    request.method === "OPTIONS" &&
    request.headers.has("origin") &&
    request.headers.has("access-control-request-method")
  );
}

/** Permits the methods of the service and whatever headers the browser asks to send, as tracing does. */
export function preflightResponse({ headers: asked }: RequestHead): Response {
  const headers = allowAnyOrigin(new Headers());
  headers.set("access-control-allow-methods", "GET, HEAD, POST");
  headers.set("access-control-allow-headers", asked.get("access-control-request-headers") ?? "*");
  headers.set("vary", "Access-Control-Request-Headers");
  headers.set("access-control-max-age", String(PREFLIGHT_MAX_AGE_SECONDS));
  return new Response(null, { status: 204, headers });
}
