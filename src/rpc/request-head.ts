import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc-web";
import { isGrpcWeb } from "./media-type.ts";
import { ROUTER_OPTIONS } from "./router-options.ts";

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
  /** The client's deadline, if any; `error` if the router refuses it. */
  readonly timeout: ReturnType<typeof parseConnectTimeout>;
}

/** Reads each property and header once, because each read costs a call out of JavaScript. */
export function readHead({ method, url, headers, cf }: Request): RequestHead {
  const contentType = headers.get("content-type") ?? "";
  // Only a POST can be gRPC-Web. Any other method is Connect's GET or is refused.
  const speaksGrpcWeb = method === "POST" && isGrpcWeb(contentType);
  const timeout = speaksGrpcWeb
    ? parseGrpcTimeout(headers.get("grpc-timeout"), ROUTER_OPTIONS.maxTimeoutMs)
    : parseConnectTimeout(headers.get("connect-timeout-ms"), ROUTER_OPTIONS.maxTimeoutMs);
  return { method, url, headers, cf, contentType, isGrpcWeb: speaksGrpcWeb, timeout };
}
