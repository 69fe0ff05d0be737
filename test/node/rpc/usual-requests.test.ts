import { describe, expect, it } from "vitest";
import { readCall } from "../../../src/rpc/request.ts";
import { readHead } from "../../../src/rpc/request.ts";

const METHOD = "http://localhost/locations.v1.LocationsService/GetLocationsV1";
/** LocationsRequest{locale: "pt_br"}. */
const PROTO = "0a0570745f6272";
const FRAME = `0000000007${PROTO}`;
const JSON_TEXT = '{"locale":"pt_br"}';

const hex = (text: string) => Buffer.from(text, "hex");
const base64 = (text: string) => Buffer.from(hex(text).toString("base64"));

interface Asked {
  readonly url?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array;
}

function read({ url = METHOD, method = "POST", headers = {}, body = new Uint8Array() }: Asked) {
  return readCall(readHead(new Request(url, { method, headers })), body);
}

const post = (type: string, body: Uint8Array, headers: Record<string, string> = {}): Asked => ({
  headers: { "content-type": type, ...headers },
  body,
});

const get = (query: string, asked: Asked = {}): Asked => ({
  url: `${METHOD}?${query}`,
  method: "GET",
  ...asked,
});

const PROTO_GET = `connect=v1&encoding=proto&base64=1&message=${hex(PROTO).toString("base64url")}`;

describe("readCall", () => {
  it.each<[string, Asked, string]>([
    ["proto", post("application/proto", hex(PROTO)), "proto"],
    ["JSON", post("application/json", Buffer.from(JSON_TEXT)), "json"],
    ["gRPC-Web", post("application/grpc-web", hex(FRAME)), "grpc-web"],
    ["gRPC-Web+proto", post("application/grpc-web+proto", hex(FRAME)), "grpc-web"],
    [
      "gRPC-Web+json",
      post("application/grpc-web+json", hex(`0000000012${Buffer.from(JSON_TEXT).toString("hex")}`)),
      "grpc-web-json",
    ],
    ["gRPC-Web in base64", post("application/grpc-web-text", base64(FRAME)), "grpc-web-text"],
    ["the same", post("application/grpc-web-text+proto", base64(FRAME)), "grpc-web-text"],
    ["a GET", get(PROTO_GET), "proto"],
    ["a HEAD", get(PROTO_GET, { method: "HEAD" }), "proto"],
    ["a GET of JSON", get(`encoding=json&message=${encodeURIComponent(JSON_TEXT)}`), "json"],
    [
      "a deadline in Connect",
      post("application/proto", hex(PROTO), { "connect-timeout-ms": "5000" }),
      "proto",
    ],
    [
      "a deadline in gRPC-Web",
      post("application/grpc-web", hex(FRAME), { "grpc-timeout": "5S" }),
      "grpc-web",
    ],
    [
      "the furthest deadline",
      post("application/proto", hex(PROTO), { "connect-timeout-ms": "9999999999" }),
      "proto",
    ],
    [
      "the furthest deadline in gRPC-Web",
      post("application/grpc-web", hex(FRAME), { "grpc-timeout": "99999999H" }),
      "grpc-web",
    ],
    [
      "a header of the other protocol",
      post("application/proto", hex(PROTO), { "grpc-timeout": "x", "grpc-encoding": "gzip" }),
      "proto",
    ],
  ])("reads %s", (_, asked, representation) => {
    expect(read(asked)).toEqual({ tag: "pt-BR", representation, pin: null });
  });

  it("reads the hash of a version in a GET", () => {
    expect(read(get(`${PROTO_GET}&v=abc`))).toMatchObject({ pin: "abc" });
  });

  it("reads an empty message as the default locale", () => {
    expect(read(post("application/proto", hex("")))).toMatchObject({ tag: "" });
  });

  it.each<[string, Asked]>([
    ["another path", { ...post("application/proto", hex(PROTO)), url: `${METHOD}x` }],
    ["a query in a POST", { ...post("application/proto", hex(PROTO)), url: `${METHOD}?v=abc` }],
    ["a fragment", { ...post("application/proto", hex(PROTO)), url: `${METHOD}#x` }],
    ["another method", get(PROTO_GET, { method: "PUT" })],
    ["another media type", post("application/json; charset=utf-8", Buffer.from(JSON_TEXT))],
    ["a name that every object has", post("constructor", hex(PROTO))],
    ["protobuf as JSON in gRPC-Web", post("application/grpc-web+json", hex(FRAME))],
    ["a coded body", post("application/proto", hex(PROTO), { "content-encoding": "gzip" })],
    ["a coded message", post("application/grpc-web", hex(FRAME), { "grpc-encoding": "gzip" })],
    ["no time", post("application/proto", hex(PROTO), { "connect-timeout-ms": "0" })],
    ["no deadline", post("application/proto", hex(PROTO), { "connect-timeout-ms": "soon" })],
    [
      "a deadline of nine digits",
      post("application/grpc-web", hex(FRAME), { "grpc-timeout": "123456789S" }),
    ],
    ["no message", post("application/proto", hex("ff"))],
    ["another field", post("application/proto", hex(`${PROTO}1001`))],
    ["the locale twice", post("application/proto", hex(`${PROTO}${PROTO}`))],
    ["a locale that is cut off", post("application/proto", hex(PROTO.slice(0, -2)))],
    ["a locale that is not UTF-8", post("application/proto", hex("0a01ff"))],
    ["a length in two bytes", post("application/proto", hex(`0a8001${"61".repeat(128)}`))],
    ["another field in JSON", post("application/json", Buffer.from('{"locale":"de","x":1}'))],
    [
      "the locale twice in JSON",
      post("application/json", Buffer.from('{"locale":"de","locale":"en"}')),
    ],
    ["an escape in JSON", post("application/json", Buffer.from(String.raw`{"locale":"\u0064e"}`))],
    ["a space of Latin-1", post("application/proto", hex("0a03a0656e"))],
    ["a control character in JSON", post("application/json", Buffer.from('{"locale":"\tde"}'))],
    [
      "another space in JSON",
      post("application/json", Buffer.from('{\u00a0"locale":"de"}', "latin1")),
    ],
    ["a long message", get(`encoding=json&message=${"+".repeat(5_000)}{}`)],
    ["a locale that is no text", post("application/json", Buffer.from('{"locale":null}'))],
    ["a list in JSON", post("application/json", Buffer.from("[]"))],
    ["a letter too many in base64", get("encoding=proto&base64=1&message=Q")],
    ...["AAAAAAQKAmRlA", "AAAAAAQKAmRl=", "AAAAAAQKAmRl==", "AAAAAAQKAmRlA=", "AAAAAAQKAm-l"].map(
      (text): [string, Asked] => [
        `the base64 ${text}`,
        post("application/grpc-web-text", Buffer.from(text)),
      ],
    ),
    ["spaces in base64", get(`encoding=proto&base64=1&message=CgJ lbg`)],
    ["no JSON", post("application/json", Buffer.from("{"))],
    ["no base64", post("application/grpc-web-text", Buffer.from("*"))],
    ["a locale that is none", post("application/json", Buffer.from('{"locale":"x"}'))],
    ["a flag", post("application/grpc-web", hex(`02${FRAME.slice(2)}`))],
    ["a frame that is cut off", post("application/grpc-web", hex(FRAME.slice(0, -2)))],
    ["an empty body", post("application/grpc-web", hex(""))],
    ["two frames", post("application/grpc-web", hex(FRAME + FRAME))],
    ["a compressed GET", get(`${PROTO_GET}&compression=gzip`)],
    ["a GET with a media type", get(PROTO_GET, { headers: { "content-type": "text/plain" } })],
    ["a GET of no encoding", get("message=")],
  ])("leaves a request with %s to `readUnusualCall`", (_, asked) => {
    expect(read(asked)).toBeUndefined();
  });
});
