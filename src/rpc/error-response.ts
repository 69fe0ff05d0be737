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
import { ACCEPT_POST, MEDIA_TYPES } from "./media-type.ts";
import { isGrpcWeb, isGrpcWebText } from "./request.ts";

/** A complete error answer of Connect's router. */
export interface RouterAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Methods of the service's paths, including those that bypass the router. */
export const ALLOW = "GET, HEAD, OPTIONS, POST";

/** Sends an error in the protocol of the request. */
export function errorResponse(
  { method, contentType }: { readonly method: string; readonly contentType: string },
  answer: RouterAnswer,
): Response {
  const headers = allowAnyOrigin(new Headers(answer.headers));
  headers.set("cache-control", "no-store");
  if (answer.status === 405) headers.set("allow", ALLOW);
  if (answer.status === 415) headers.set("accept-post", ACCEPT_POST);
  let body: string | Uint8Array<ArrayBuffer> | null = answer.body;
  if (body.byteLength > 0 && isGrpcWebText(contentType)) {
    headers.set("content-type", MEDIA_TYPES["grpc-web-text"]);
    body = encodeBase64(body);
  }
  if (body.length === 0 || method === "HEAD") body = null;
  return new Response(body, { status: answer.status, headers });
}

/** Builds the answer that the router would give for an error. */
export function errorAnswer(error: ConnectError, contentType: string): RouterAnswer {
  if (!isGrpcWeb(contentType)) {
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
