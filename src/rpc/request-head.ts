import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc-web";
import { isGrpcWeb } from "./media-type.ts";
import { ROUTER_OPTIONS } from "./router-options.ts";

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
  /** The client's deadline, empty where it sets none; with `error` if the router refuses it. */
  readonly timeout: ReturnType<typeof parseConnectTimeout>;
}

/** Each property and each header of a request costs a call out of JavaScript: here they are read once. */
export function readHead({ method, url, headers, cf }: Request): RequestHead {
  const contentType = headers.get("content-type") ?? "";
  // Only a POST is gRPC-Web, whatever others say of a body: they are Connect's GET, or refused.
  const speaksGrpcWeb = method === "POST" && isGrpcWeb(contentType);
  const timeout = speaksGrpcWeb
    ? parseGrpcTimeout(headers.get("grpc-timeout"), ROUTER_OPTIONS.maxTimeoutMs)
    : parseConnectTimeout(headers.get("connect-timeout-ms"), ROUTER_OPTIONS.maxTimeoutMs);
  return { method, url, headers, cf, contentType, isGrpcWeb: speaksGrpcWeb, timeout };
}
