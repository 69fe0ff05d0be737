import { Code, ConnectError } from "@connectrpc/connect";
import type { RequestHead } from "./request-head.ts";

/** How long a request's body of some bytes may take to arrive, if the client sets no deadline. */
const BODY_DEADLINE_MS = 10_000;

/** The units of `grpc-timeout` in milliseconds (gRPC over HTTP/2, "Timeout"). */
const UNIT_MS: { readonly [unit: string]: number } = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/**
 * How long the body may take to arrive: the router looks at a deadline only once the body is there.
 * A malformed timeout is left to the router, which has the words for it.
 */
export function bodyDeadlineMs({
  isGrpcWeb,
  timeout,
}: Pick<RequestHead, "isGrpcWeb" | "timeout">): number {
  if (timeout === null) return BODY_DEADLINE_MS;
  const wanted = isGrpcWeb ? readGrpcTimeout(timeout) : readConnectTimeout(timeout);
  return Math.min(wanted ?? BODY_DEADLINE_MS, BODY_DEADLINE_MS);
}

/** `promise`, or a rejection with `deadline_exceeded` once so many milliseconds have passed. */
export function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () =>
      reject(new ConnectError("the request's body did not arrive in time", Code.DeadlineExceeded));
    const timer = setTimeout(late, ms);
    const settle = () => clearTimeout(timer);
    promise.then(resolve, reject).finally(settle);
  });
}

function readConnectTimeout(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

function readGrpcTimeout(text: string): number | undefined {
  const [, digits, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  return digits === undefined || unitMs === undefined ? undefined : Number(digits) * unitMs;
}
