import { Buffer } from "node:buffer";
import { entityTag } from "./preconditions.ts";
import { isDeltaCoding, isMessageCoding, MESSAGE_CODINGS } from "../catalog/find-body.ts";
import {
  type Body,
  type Manifest,
  type Representation,
  REPRESENTATIONS,
} from "../catalog/manifest.ts";
import { memoize } from "../platform/once.ts";
import { POST_FORMS } from "./request.ts";
import type { Found, Variant } from "./look-up.ts";
import { isGrpcWebText, type RequestHead } from "./request.ts";

/**
 * Caches a GET for five minutes, and afterwards while a fresh answer is on its way or unavailable. A
 * dictionary lasts as long as it may be used stale (RFC 9842, section 2.2): two days, so that a
 * browser still has it the next day.
 */
const CACHEABLE = "public, max-age=300, stale-while-revalidate=172800, stale-if-error=604800";

/** A pinned version never changes. */
const IMMUTABLE = "public, max-age=31536000, immutable";

/** Answers with a stored body without reading its bytes. */
export function successResponse(found: Found, { method, url }: RequestHead): Response {
  const { variant, kind } = found;
  const isPost = method === "POST";
  const origin = kind === "body" ? found.origin : "manifest";
  const head = cachedInit(variant, { isPost, kind, origin });
  // The stream has a length.
  const response = new Response(kind === "body" ? found.content.stream() : null, head);
  // A cache has the header of a 304 from the answer that it renews.
  if (!isPost && !variant.isPinned && kind !== "not_modified") offerAsDictionary(response, url);
  return response;
}

/** Longer queries are not worth a header that a proxy may refuse. */
const QUERY_MAX_LENGTH = 512;

/** Offers a body as the dictionary of later answers to the same query (RFC 9842, section 2.1). */
function offerAsDictionary({ headers }: Response, url: string): void {
  const query = url.slice(url.indexOf("?") + 1);
  if (query.length <= QUERY_MAX_LENGTH) headers.set("use-as-dictionary", dictionaryOf(query));
}

/**
 * Matches the same query with any message, since a body of any locale is a dictionary of all others.
 * The browser keeps the last one. A colon stands in braces, because `URLPattern` reads a relative
 * pattern with a colon as one with a protocol.
 */
const dictionaryOf = memoize((query) => {
  const pattern = query
    .replaceAll(/[\\*+?(){}]/g, String.raw`\$&`)
    .replaceAll(":", String.raw`{\:}`)
    .replace(/(^|&)message=[^&]*/, "$1message=*");
  return `match="?${pattern.replaceAll("\\", String.raw`\\`)}"`;
});

function catalogHeaders(variant: Variant, isPost: boolean): Headers {
  const headers = new Headers();
  const cacheable = variant.isPinned ? IMMUTABLE : CACHEABLE;
  headers.set("cache-control", isPost ? "no-store" : cacheable);
  headers.set("catalog-sha256", variant.entry.sha256);
  headers.set("catalog-version", String(variant.manifest.generation));
  headers.set("content-language", variant.locale);
  headers.set("last-modified", new Date(variant.manifest.published_at).toUTCString());
  if (variant.fallback !== "none") headers.set("locale-fallback", variant.fallback);
  headers.set("timing-allow-origin", "*");
  headers.set("x-content-type-options", "nosniff");
  headers.set("vary", isPost ? "Accept-Encoding" : "Accept-Encoding, Available-Dictionary");
  return allowAnyOrigin(headers);
}

interface InitKey {
  readonly isPost: boolean;
  readonly kind: Found["kind"];
  /** Where the answer came from: `memory`, `kv` or `r2`; `manifest` where it has no body. */
  readonly origin: string;
}

/** Caches them per body, because building one costs more than the rest of a warm request. */
const memo = new WeakMap<Body, { manifest: Manifest; made: Map<string, ResponseInit> }>();

/** Returns the status and headers of a response. */
function cachedInit(variant: Variant, key: InitKey): ResponseInit {
  let known = memo.get(variant.body);
  if (known?.manifest !== variant.manifest) {
    known = { manifest: variant.manifest, made: new Map() };
    memo.set(variant.body, known);
  }
  const name = `${key.isPost} ${key.kind} ${key.origin} ${variant.locale} ${variant.fallback} ${variant.isPinned}`;
  const cached = known.made.get(name);
  if (cached !== undefined) return cached;
  const made = responseInit(variant, key);
  known.made.set(name, made);
  return made;
}

function responseInit(variant: Variant, { isPost, kind, origin }: InitKey): ResponseInit {
  const headers = catalogHeaders(variant, isPost);
  headers.set("server-timing", `from;desc="${origin}"`);
  headers.set("etag", entityTag(variant.body));
  headers.set("content-type", MEDIA_TYPES[variant.representation]);
  const { body, coding, representation } = variant;
  if (isMessageCoding(coding)) {
    headers.set("grpc-encoding", MESSAGE_CODINGS[coding]);
  } else if (isDeltaCoding(coding)) {
    headers.set("content-encoding", "dcz");
  } else {
    if (coding !== "identity") headers.set("content-encoding", coding);
    if (representation === "proto" || representation === "json")
      headers.set("repr-digest", `sha-256=:${Buffer.from(body.sha256, "hex").toString("base64")}:`);
  }
  if (kind === "head") headers.set("content-length", String(variant.body.bytes));
  // A 304 has the type and the coding of the body, too: Miniflare codes an answer without a type, and
  // a cache applies the headers of a 304 to the body that it has.
  const status = kind === "not_modified" ? 304 : 200;
  // The bytes are already compressed.
  return { status, headers, encodeBody: "manual" };
}

/** Methods of the service's paths, including those that bypass the router. */
export const ALLOW = "GET, HEAD, OPTIONS, POST";

/** How long a browser may cache the answer to a preflight. */
const PREFLIGHT_MAX_AGE_SECONDS = 7200;

/** The headers that Connect's clients read (`cors.exposedHeaders`), and those of the catalog. */
const EXPOSED_HEADERS = [
  "Grpc-Status",
  "Grpc-Message",
  "Grpc-Status-Details-Bin",
  "Content-Encoding",
  "Connect-Content-Encoding",
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

/** Answers OPTIONS of the service's paths, as a preflight or not. */
export async function answerOptions(request: Request, head: RequestHead): Promise<Response> {
  await request.body?.cancel();
  if (isPreflight(head)) return preflightResponse(head, "GET, HEAD, POST");
  const headers = { allow: ALLOW, "accept-post": ACCEPT_POST };
  return new Response(null, { status: 204, headers: allowAnyOrigin(new Headers(headers)) });
}

/** Whether a request is a CORS preflight (Fetch, section 4.8). */
export function isPreflight(request: Pick<RequestHead, "method" | "headers">): boolean {
  return (
    request.method === "OPTIONS" &&
    request.headers.has("origin") &&
    request.headers.has("access-control-request-method")
  );
}

/** Permits these methods and whatever headers the browser asks to send, as tracing does. */
export function preflightResponse(
  { headers: asked }: Pick<RequestHead, "headers">,
  methods: string,
): Response {
  const headers = allowAnyOrigin(new Headers());
  headers.set("access-control-allow-methods", methods);
  headers.set("access-control-allow-headers", asked.get("access-control-request-headers") ?? "*");
  headers.set("vary", "Access-Control-Request-Headers");
  headers.set("access-control-max-age", String(PREFLIGHT_MAX_AGE_SECONDS));
  return new Response(null, { status: 204, headers });
}

/** Content-Type of each stored representation. */
export const MEDIA_TYPES = {
  proto: "application/proto",
  json: "application/json",
  "grpc-web": "application/grpc-web+proto",
  "grpc-web-text": "application/grpc-web-text+proto",
  "grpc-web-json": "application/grpc-web+json",
} as const satisfies Record<Representation, string>;

/** Value of Accept-Post: the media types that a POST may have. */
export const ACCEPT_POST = [...POST_FORMS.keys()].join(", ");

/** Maps the content types of the router's answer and of the request to a representation. */
export function storedRepresentation(chosen: string | null, contentType: string): Representation {
  const form = REPRESENTATIONS.find((name) => MEDIA_TYPES[name] === chosen) ?? "grpc-web";
  return form === "grpc-web" && isGrpcWebText(contentType) ? "grpc-web-text" : form;
}
