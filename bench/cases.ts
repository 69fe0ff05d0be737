import { Buffer } from "node:buffer";
import type { LoadRequest } from "./load.ts";

type Headers = { readonly [name: string]: string };

/** A request to measure. */
export interface Case extends LoadRequest {
  readonly name: string;
  readonly status: number;
  /** Whether the stock router answers it as well, in the identity coding, which is all it has. */
  readonly stock: boolean;
  headers: Headers;
  readonly body: Uint8Array;
  /** Headers of the measured request, given those of a first answer. */
  readonly prepare?: (headers: Headers, answer: globalThis.Headers) => Headers;
}

const PATH = "/locations.v1.LocationsService/GetLocationsV1";
/** LocationsRequest{locale: "en"}. */
const MESSAGE = new Uint8Array([0x0a, 0x02, 0x65, 0x6e]);
const FRAME = new Uint8Array([0, 0, 0, 0, MESSAGE.length, ...MESSAGE]);
const JSON_MESSAGE = new TextEncoder().encode('{"locale":"en"}');
const JSON_FRAME = new Uint8Array([0, 0, 0, 0, JSON_MESSAGE.length, ...JSON_MESSAGE]);
const GET_PATH = `${PATH}?connect=v1&encoding=proto&base64=1&message=${Buffer.from(MESSAGE).toString("base64url")}`;

function post(name: string, contentType: string, coding: string, body: Uint8Array): Case {
  const headers = { "content-type": contentType, "accept-encoding": coding };
  const stock = !contentType.includes("text");
  return {
    name: `${name}-${coding}`,
    method: "POST",
    path: PATH,
    status: 200,
    stock,
    headers,
    body,
  };
}

function get(name: string, coding: string): Case {
  const headers = { "accept-encoding": coding };
  const body = new Uint8Array();
  return { name, method: "GET", path: GET_PATH, status: 200, stock: false, headers, body };
}

export const CASES: readonly Case[] = [
  post("connect-proto", "application/proto", "identity", MESSAGE),
  post("connect-proto", "application/proto", "br", MESSAGE),
  post("connect-json", "application/json", "identity", JSON_MESSAGE),
  post("connect-json", "application/json", "br", JSON_MESSAGE),
  post("grpc-web", "application/grpc-web+proto", "identity", FRAME),
  post("grpc-web", "application/grpc-web+proto", "br", FRAME),
  post("grpc-web-json", "application/grpc-web+json", "br", JSON_FRAME),
  post(
    "grpc-web-text",
    "application/grpc-web-text",
    "identity",
    new TextEncoder().encode(Buffer.from(FRAME).toString("base64")),
  ),
  get("connect-get-br", "br"),
  {
    ...get("connect-get-304", "br"),
    status: 304,
    prepare: (headers, answer) => ({ ...headers, "if-none-match": answer.get("etag") ?? "" }),
  },
];
