import type { Representation } from "../catalog/manifest.ts";
import { isGrpcWebText } from "./request.ts";

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
