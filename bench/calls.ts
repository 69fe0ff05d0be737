import { Buffer } from "node:buffer";
import { create, toBinary } from "@bufbuild/protobuf";
import { LocationsRequestSchema } from "../gen/locations/v1/locations_pb.ts";
import type { LoadRequest } from "./load.ts";

const PATH = "/locations.v1.LocationsService/GetLocationsV1";

/** The call in every form that clients send, for one locale. */
export function callsFor(locale: string): readonly LoadRequest[] {
  const message = toBinary(LocationsRequestSchema, create(LocationsRequestSchema, { locale }));
  const frame = new Uint8Array([0, 0, 0, 0, message.length, ...message]);
  const json = JSON.stringify({ locale });
  const jsonHeader = Uint8Array.of(0, 0, 0, 0, json.length);
  const base64 = Buffer.from(message).toString("base64url");
  return [
    post("application/proto", message),
    post("application/json", Buffer.from(json)),
    post("application/grpc-web+proto", frame),
    post("application/grpc-web+json", Buffer.concat([jsonHeader, Buffer.from(json)])),
    post("application/grpc-web-text", Buffer.from(Buffer.from(frame).toString("base64"))),
    get(`encoding=proto&base64=1&message=${base64}`),
    get(`encoding=json&message=${encodeURIComponent(json)}`),
  ];
}

function post(contentType: string, body: Uint8Array): LoadRequest {
  return { method: "POST", path: PATH, headers: { "content-type": contentType }, body };
}

function get(query: string): LoadRequest {
  const path = `${PATH}?connect=v1&${query}`;
  return { method: "GET", path, headers: {}, body: new Uint8Array() };
}
