import type { Representation } from "../catalog/manifest.ts";

/** Content-Type of each stored representation. */
export const MEDIA_TYPES = {
  proto: "application/proto",
  json: "application/json",
  "grpc-web": "application/grpc-web+proto",
  "grpc-web-text": "application/grpc-web-text+proto",
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

/**
 * Maps the content types of the router's answer and of the request to a stored representation.
 * Returns undefined for JSON in gRPC-Web, which is not stored.
 */
export function storedRepresentation(
  chosen: string | null,
  contentType: string,
): Representation | undefined {
  if (chosen === MEDIA_TYPES.proto) return "proto";
  if (chosen === MEDIA_TYPES.json) return "json";
  if (chosen !== MEDIA_TYPES["grpc-web"]) return undefined;
  return isGrpcWebText(contentType) ? "grpc-web-text" : "grpc-web";
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
