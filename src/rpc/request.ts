/** The longest delay of a timer (ms). A longer one fires at once. */
export const TIMEOUT_MAX_MS = 2_147_483_647;

/** The parts of a request, apart from its body, that determine the answer. */
export interface RequestHead {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** Metadata from Cloudflare's edge; undefined if the request did not come through it. */
  readonly cf: Request["cf"] | undefined;
  /** Empty if the header is missing. */
  readonly contentType: string;
  readonly isGrpcWeb: boolean;
  /** The client's deadline; undefined if it names none, NaN if the router refuses it. */
  readonly timeoutMs: number | undefined;
}

/** Reads each property and header once, because each read costs a call out of JavaScript. */
export function readHead({ method, url, headers, cf }: Request): RequestHead {
  const contentType = headers.get("content-type") ?? "";
  // Only a POST can be gRPC-Web. Any other method is Connect's GET or is refused.
  const speaksGrpcWeb = method === "POST" && isGrpcWeb(contentType);
  const timeoutMs = speaksGrpcWeb
    ? parseGrpcTimeout(headers.get("grpc-timeout"))
    : parseConnectTimeout(headers.get("connect-timeout-ms"));
  return { method, url, headers, cf, contentType, isGrpcWeb: speaksGrpcWeb, timeoutMs };
}

function parseConnectTimeout(value: string | null): number | undefined {
  if (value === null) return undefined;
  return /^\d{1,10}$/.test(value) ? orRefused(Number(value)) : NaN;
}

const GRPC_UNITS_MS: { readonly [unit: string]: number } = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

function parseGrpcTimeout(value: string | null): number | undefined {
  if (value === null) return undefined;
  const [, amount, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? [];
  return orRefused(Number(amount) * (GRPC_UNITS_MS[unit] ?? NaN));
}

function orRefused(timeoutMs: number): number {
  return timeoutMs <= TIMEOUT_MAX_MS ? timeoutMs : NaN;
}

/** Whether a request is gRPC-Web in base64, which the router does not support. */
export function isGrpcWebText(contentType: string): boolean {
  return /^application\/grpc-web-text(?:\+proto)?$/i.test(contentType);
}

/** Whether a content type is gRPC-Web, which reports errors in a trailer frame. */
export function isGrpcWeb(contentType: string): boolean {
  return /^application\/grpc-web/i.test(contentType);
}

/** Whether a content type is any kind of gRPC, supported or not. */
function isGrpc(contentType: string): boolean {
  return /^application\/grpc/i.test(contentType);
}

/** Path of the one method. Written out, because the generated code takes long to load. */
export const METHOD_PATH = "/locations.v1.LocationsService/GetLocationsV1";
const SERVICE_PATH = METHOD_PATH.slice(0, METHOD_PATH.lastIndexOf("/") + 1);

/**
 * Whether a request addresses the service, has the path of another service's method, or uses gRPC on
 * any path outside `/admin`. Clients of all of these expect an error in their protocol.
 */
export function isRpcRequest({ url, contentType }: RequestHead): boolean {
  const pathStart = url.indexOf("/", url.indexOf("//") + "//".length);
  if (url.startsWith(SERVICE_PATH, pathStart)) return true;
  const path = url.slice(pathStart);
  if (/^\/admin/i.test(path)) return false;
  return ANY_METHOD_PATH.test(path) || isGrpc(contentType);
}

/** `/package.Service/Method`, with or without a query. */
const ANY_METHOD_PATH = /^\/\w+(?:\.\w+)+\/\w+(?:\?|$)/;

/** Longer than any valid request in any encoding. */
const SHORT_BODY_MAX_BYTES = 64;

/** Returns the announced length of a body that is as short as usual, and undefined for any other. */
export function shortBodyBytes({ headers }: RequestHead): number | undefined {
  const text = headers.get("content-length") ?? "";
  return /^\d{1,2}$/.test(text) && Number(text) <= SHORT_BODY_MAX_BYTES ? Number(text) : undefined;
}
