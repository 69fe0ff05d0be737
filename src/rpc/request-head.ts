import { isGrpcWeb } from "./media-type.ts";

/** What of a request its answer depends on, besides its body. */
export interface RequestHead {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** What Cloudflare's edge says of the request; undefined where it did not come through it. */
  readonly cf: Request["cf"] | undefined;
  /** Empty where the request names none. */
  readonly contentType: string;
  readonly isGrpcWeb: boolean;
  /** The deadline as its protocol writes it; null where the client sets none. */
  readonly timeout: string | null;
}

/** Each property and each header of a request costs a call out of JavaScript: here they are read once. */
export function readHead({ method, url, headers, cf }: Request): RequestHead {
  const contentType = headers.get("content-type") ?? "";
  // Only a POST is gRPC-Web, whatever others say of a body: they are Connect's GET, or refused.
  const speaksGrpcWeb = method === "POST" && isGrpcWeb(contentType);
  const timeout = headers.get(speaksGrpcWeb ? "grpc-timeout" : "connect-timeout-ms");
  return { method, url, headers, cf, contentType, isGrpcWeb: speaksGrpcWeb, timeout };
}
