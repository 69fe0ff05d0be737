import type { ConnectRouterOptions } from "@connectrpc/connect";

/**
 * Options that every router of this service has. `readMaxBytes` is a matter of security: an
 * envelope's prefix may announce 4 GiB, which the router would allocate.
 */
export const ROUTER_OPTIONS = {
  /** A Worker cannot send HTTP trailers, which gRPC needs. */
  grpc: false,
  readMaxBytes: 4096,
  /** The longest delay of a timer; a longer one would pass at once. */
  maxTimeoutMs: 2_147_483_647,
  acceptCompression: [],
} as const satisfies ConnectRouterOptions;

/**
 * Whether a stored body is what a router with these options would answer: not if it may code or
 * limit the message, or looks at more of a request than is remembered of it.
 */
export function sendsStoredBodies(options: ConnectRouterOptions): boolean {
  return Object.entries(options).every(
    ([name, value]) =>
      value === undefined ||
      ["grpc", "readMaxBytes", "maxTimeoutMs"].includes(name) ||
      (Array.isArray(value) && value.length === 0),
  );
}
