import type { Representation } from "../catalog/manifest.ts";

/** Content-Type of each stored representation. */
export const MEDIA_TYPES = {
  proto: "application/proto",
  json: "application/json",
  "grpc-web": "application/grpc-web+proto",
  "grpc-web-text": "application/grpc-web-text+proto",
  "grpc-web-json": "application/grpc-web+json",
} as const satisfies Record<Representation, string>;

/** Value of Accept-Post: the media types that a POST may have. */
export const ACCEPT_POST = [
  "application/proto",
  "application/json",
  "application/grpc-web",
  "application/grpc-web+proto",
  "application/grpc-web+json",
  "application/grpc-web-text",
  "application/grpc-web-text+proto",
].join(", ");

/** Maps the content types of the router's answer and of the request to a representation. */
export function storedRepresentation(chosen: string | null, contentType: string): Representation {
  switch (chosen) {
    case MEDIA_TYPES.proto:
      return "proto";
    case MEDIA_TYPES.json:
      return "json";
    case MEDIA_TYPES["grpc-web-json"]:
      return "grpc-web-json";
    case null:
    default:
      return isGrpcWebText(contentType) ? "grpc-web-text" : "grpc-web";
  }
}

/** Whether a request is gRPC-Web in base64, which the router does not support. */
export function isGrpcWebText(contentType: string): boolean {
  return /^application\/grpc-web-text(?:\+proto)?$/i.test(contentType);
}

/** Whether a content type is gRPC-Web, which reports errors in a trailer frame. */
export function isGrpcWeb(contentType: string): boolean {
  return /^application\/grpc-web/i.test(contentType);
}

/** Whether a content type is any kind of gRPC, supported or not. */
export function isGrpc(contentType: string): boolean {
  return /^application\/grpc/i.test(contentType);
}
