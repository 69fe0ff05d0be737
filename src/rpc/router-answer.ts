import type { ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import {
  codeToHttpStatus,
  contentTypeUnaryJson,
  errorToJsonBytes,
} from "@connectrpc/connect/protocol-connect";
import {
  setTrailerStatus,
  trailerFlag,
  trailerSerialize,
} from "@connectrpc/connect/protocol-grpc-web";
import { encodeBase64 } from "./base64-body.ts";
import { allowAnyOrigin } from "./cors.ts";
import type { Variant } from "./look-up.ts";
import { ACCEPT_POST, isGrpcWeb, isGrpcWebText, MEDIA_TYPES } from "./media-type.ts";
import { catalogHeaders } from "./success.ts";

/** An answer as Connect's router gives it, read to the end. */
export interface RouterAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Methods of the service, with those that are served around the router. */
const ALLOW = "GET, HEAD, OPTIONS, POST";

/**
 * Sends the router's own answer: an error, or with `variant` a success that the router encoded
 * from that variant.
 */
export function routerResponse(
  request: Request,
  answer: RouterAnswer,
  variant?: Variant,
): Response {
  const headers = new Headers(answer.headers);
  if (variant === undefined) {
    headers.set("cache-control", "no-store");
    allowAnyOrigin(headers);
  } else {
    catalogHeaders(headers, variant, request.method === "POST");
    headers.set("etag", `W/"${variant.entry.sha256.slice(0, 32)}"`);
  }
  if (answer.status === 405) headers.set("allow", ALLOW);
  if (answer.status === 415) headers.set("accept-post", ACCEPT_POST);
  let body: string | Uint8Array<ArrayBuffer> | null = answer.body;
  if (body.byteLength > 0 && isGrpcWebText(request.headers.get("content-type") ?? "")) {
    headers.set("content-type", MEDIA_TYPES["grpc-web-text"]);
    body = encodeBase64(body);
  }
  if (body.length === 0 || request.method === "HEAD") body = null;
  return new Response(body, { status: answer.status, headers });
}

/** The answer that the router would give to a call which failed with this error. */
export function errorAnswer(error: ConnectError, request: Request): RouterAnswer {
  if (!isGrpcWeb(request.headers.get("content-type") ?? "")) {
    return {
      status: codeToHttpStatus(error.code),
      headers: new Headers({ "content-type": contentTypeUnaryJson }),
      body: new Uint8Array(errorToJsonBytes(error, undefined)),
    };
  }
  const trailer = trailerSerialize(setTrailerStatus(new Headers(), error));
  return {
    status: 200,
    headers: new Headers({ "content-type": MEDIA_TYPES["grpc-web"] }),
    body: new Uint8Array(encodeEnvelope(trailerFlag, trailer)),
  };
}
