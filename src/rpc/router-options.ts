import type { ConnectRouterOptions } from "@connectrpc/connect";

/**
 * Options of Connect's router; the fast path obeys them too. `readMaxBytes` protects the isolate:
 * without it the router allocates the 4 GiB that an envelope's prefix can announce.
 */
export const ROUTER_OPTIONS = {
  /** A Worker cannot send HTTP trailers, which gRPC needs. */
  grpc: false,
  readMaxBytes: 4096,
  /** The longest delay of a timer. A longer one fires at once. */
  maxTimeoutMs: 2_147_483_647,
  acceptCompression: [],
} as const satisfies ConnectRouterOptions;
