import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { LocationsRequestSchema } from "../../gen/locations/v1/locations_pb.ts";
import { frame } from "../builders/frames.ts";
import { type Answer, CALL, type Sent } from "./http.ts";

/** The same call in each form that is stored, as a request. */
export const FORMS = {
  "Connect, binary": (locale: string): Sent => ({
    headers: { "content-type": "application/proto" },
    body: requestMessage(locale),
  }),
  "Connect, JSON": (locale: string): Sent => ({
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ locale }),
  }),
  "Connect GET, binary": (locale: string): Sent => {
    const message = Buffer.from(requestMessage(locale)).toString("base64url");
    return {
      method: "GET",
      path: `${CALL}?connect=v1&encoding=proto&base64=1&message=${message}`,
    };
  },
  "Connect GET, JSON": (locale: string): Sent => ({
    method: "GET",
    path: `${CALL}?connect=v1&encoding=json&message=${encodeURIComponent(JSON.stringify({ locale }))}`,
  }),
  "gRPC-Web": (locale: string): Sent => ({
    headers: { "content-type": "application/grpc-web+proto" },
    body: frame(requestMessage(locale)),
  }),
  "gRPC-Web text": (locale: string): Sent => ({
    headers: { "content-type": "application/grpc-web-text" },
    body: frame(requestMessage(locale)).toString("base64"),
  }),
} as const;
export type Form = keyof typeof FORMS;

/** Content-Type of the answer to each form. */
export const CONTENT_TYPES: { readonly [F in Form]: string } = {
  "Connect, binary": "application/proto",
  "Connect, JSON": "application/json",
  "Connect GET, binary": "application/proto",
  "Connect GET, JSON": "application/json",
  "gRPC-Web": "application/grpc-web+proto",
  "gRPC-Web text": "application/grpc-web-text+proto",
};

export function requestMessage(locale: string): Uint8Array {
  return toBinary(LocationsRequestSchema, create(LocationsRequestSchema, { locale }));
}

/** The body of an answer without its content coding. */
export function decoded({ headers, body }: Answer): Buffer {
  const coding = headers["content-encoding"];
  switch (coding) {
    case undefined:
      return body;
    case "br":
      return brotliDecompressSync(body);
    case "gzip":
      return gunzipSync(body);
    default:
      throw new Error(`unknown content coding ${coding}`);
  }
}
