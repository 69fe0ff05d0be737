import { contentTypeUnaryRegExp, parseContentType } from "@connectrpc/connect/protocol-connect";
import { parseContentType as parseGrpcWebContentType } from "@connectrpc/connect/protocol-grpc-web";
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
 * The stored representation that a success would have, or undefined where none is stored. Says
 * nothing about whether the request is valid: that is the router's to decide. `encoding` is the
 * query parameter of a Connect GET.
 */
export function storedRepresentation(
  request: Request,
  encoding: string | null,
): Representation | undefined {
  if (request.method !== "POST") {
    return encoding === "proto" || encoding === "json" ? encoding : undefined;
  }
  const contentType = request.headers.get("content-type") ?? "";
  if (isGrpcWebText(contentType)) return "grpc-web-text";
  const grpcWeb = parseGrpcWebContentType(contentType);
  if (grpcWeb !== undefined) return grpcWeb.binary && !grpcWeb.text ? "grpc-web" : undefined;
  if (!contentTypeUnaryRegExp.test(contentType)) return undefined;
  return parseContentType(contentType)?.binary === true ? "proto" : "json";
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
