import { Code, ConnectError } from "@connectrpc/connect";

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
export function bodyDeadlineMs(headers: Headers): number {
  const isGrpcWeb = /^application\/grpc-web/i.test(headers.get("content-type") ?? "");
  const wanted = isGrpcWeb
    ? readGrpcTimeout(headers.get("grpc-timeout") ?? "")
    : readConnectTimeout(headers.get("connect-timeout-ms") ?? "");
  return Math.min(wanted ?? BODY_DEADLINE_MS, BODY_DEADLINE_MS);
}

/** `promise`, or a rejection with `deadline_exceeded` at a time in milliseconds since 1970. */
export async function inTime<T>(deadlineAt: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expired = new Promise<never>((_, reject) => {
    const late = () =>
      reject(new ConnectError("the request's body did not arrive in time", Code.DeadlineExceeded));
    timer = setTimeout(late, Math.max(0, deadlineAt - Date.now()));
  });
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}

function readConnectTimeout(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

function readGrpcTimeout(text: string): number | undefined {
  const [, digits, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  return digits === undefined || unitMs === undefined ? undefined : Number(digits) * unitMs;
}
