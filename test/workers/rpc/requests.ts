import { create, toBinary } from "@bufbuild/protobuf";
import {
  LocationsRequestSchema,
  LocationsService,
} from "../../../gen/locations/v1/locations_pb.ts";
import { createRpcHandler, type RpcOptions } from "../../../src/rpc/handler.ts";
import { readHead } from "../../../src/rpc/request.ts";
import { frame, framesOf } from "../../builders/frames.ts";
import { RecordingReader } from "../../builders/recording-reader.ts";

/** Path of the one method. */
export const PATH = `/${LocationsService.typeName}/GetLocationsV1`;
export const URL_OF_METHOD = `http://localhost${PATH}`;

/** A Connect GET of a locale in the binary codec or JSON. */
export function aGet(
  init: RequestInit & { locale?: string; encoding?: "proto" | "json" } = {},
): Request {
  const { locale = "en", encoding = "proto", ...rest } = init;
  const message =
    encoding === "json"
      ? `message=${encodeURIComponent(JSON.stringify({ locale }))}`
      : `base64=1&message=${btoa(`\n${String.fromCharCode(locale.length)}${locale}`)}`;
  return new Request(`${URL_OF_METHOD}?connect=v1&encoding=${encoding}&${message}`, rest);
}

/** Media types of a POST that are served, by the shape of their body. */
export type PostType =
  | "application/proto"
  | "application/json"
  | "application/grpc-web"
  | "application/grpc-web+proto"
  | "application/grpc-web+json"
  | "application/grpc-web-text"
  | "application/grpc-web-text+proto";

/** A POST of a locale, as a client announces it: with its length. */
export function aPost(
  contentType: PostType,
  init: { locale?: string; headers?: Record<string, string> } = {},
): Request {
  const body = postBody(contentType, init.locale ?? "en");
  return new Request(URL_OF_METHOD, {
    method: "POST",
    headers: {
      "content-type": contentType,
      "content-length": String(body.byteLength),
      ...init.headers,
    },
    body,
  });
}

function postBody(contentType: PostType, locale: string): Uint8Array<ArrayBuffer> {
  const json = contentType.endsWith("json");
  const message = json
    ? Buffer.from(JSON.stringify({ locale }))
    : toBinary(LocationsRequestSchema, create(LocationsRequestSchema, { locale }));
  if (!contentType.startsWith("application/grpc-web")) return Uint8Array.from(message);
  const isText = contentType.startsWith("application/grpc-web-text");
  return isText ? Buffer.from(frame(message).toString("base64")) : frame(message);
}

/** Answers a request. */
export type Handler = (request: Request) => Response | Promise<Response>;

/** A handler with its reader, and what it logged. */
export interface Subject {
  readonly reader: RecordingReader;
  readonly handler: Handler;
  readonly logged: unknown[];
}

/** Builds a handler over a small catalog. */
export function aHandler(
  options: Omit<Partial<RpcOptions>, "reader"> & { reader?: RecordingReader } = {},
): Subject {
  const { reader = new RecordingReader(), ...rest } = options;
  const logged: unknown[] = [];
  const answer = createRpcHandler({
    reader,
    defaultLocale: "en",
    log: (_, cause) => logged.push(cause),
    ...rest,
  });
  return { reader, handler: (request) => answer(request, readHead(request)), logged };
}

/** The whole body. */
export async function bytesOf(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer());
}

/** Value of a trailer of a gRPC-Web body. */
export function trailerOf(body: Uint8Array, name: string): string | undefined {
  const trailer = framesOf(body).find(({ flags }) => flags === 0x80);
  const lines = new TextDecoder().decode(trailer?.data).split("\r\n");
  const line = lines.find((candidate) => candidate.startsWith(`${name}: `));
  return line?.slice(name.length + 2);
}
