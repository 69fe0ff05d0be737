import type { Representation } from "../catalog/manifest.ts";

/** Content-Type of each stored representation. */
export const MEDIA_TYPES = {
  proto: "application/proto",
  json: "application/json",
  "grpc-web": "application/grpc-web+proto",
  "grpc-web-text": "application/grpc-web-text+proto",
} as const satisfies Record<Representation, string>;

/** Media types that a POST may have, as the value of Accept-Post. */
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
 * The stored representation of a success, by the content type that the router has chosen for it and
 * that of the request; undefined for JSON in gRPC-Web, which is not stored.
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

/** Whether a request is gRPC-Web in base64, which the router does not speak. */
export function isGrpcWebText(contentType: string): boolean {
  return /^application\/grpc-web-text(?:\+proto)?$/i.test(contentType);
}

/** Whether errors go into a trailer frame (gRPC-Web) rather than a JSON body (Connect). */
export function isGrpcWeb(contentType: string): boolean {
  return /^application\/grpc-web/i.test(contentType);
}

/** Whether a request is gRPC of any kind, also one that is not served. */
export function isGrpc(contentType: string): boolean {
  return /^application\/grpc/i.test(contentType);
}
