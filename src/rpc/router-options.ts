import type { ConnectRouterOptions } from "@connectrpc/connect";

/**
 * Options of Connect's router, which the fast path obeys as well. `readMaxBytes` is a matter of
 * security: an envelope's prefix may announce 4 GiB, which the router would allocate.
 */
export const ROUTER_OPTIONS = {
  /** A Worker cannot send HTTP trailers, which gRPC needs. */
  grpc: false,
  readMaxBytes: 4096,
  /** The longest delay of a timer; a longer one would pass at once. */
  maxTimeoutMs: 2_147_483_647,
  acceptCompression: [],
} as const satisfies ConnectRouterOptions;
