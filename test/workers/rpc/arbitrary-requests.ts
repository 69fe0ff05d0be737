/** What strangers can send: requests in each protocol, well-formed ones and others. */
import fc from "fast-check";
import { joined, mutatedBytes } from "../../builders/mutations.ts";
import { PATH } from "./requests.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A request in parts, which a failed property can print. */
export interface AskedParts {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Bytes;
  /** Bytes that arrive at a time, without an announced length; undefined: the body as one. */
  readonly chunkBytes?: number | undefined;
}

/** Builds the request, which announces its length unless it comes in chunks. */
export function requestFrom(asked: AskedParts): Request {
  const { method, path, headers: sent, body, chunkBytes } = asked;
  const url = `http://localhost${path}`;
  if (method === "GET" || method === "HEAD") return new Request(url, { method, headers: sent });
  if (chunkBytes !== undefined)
    return new Request(url, { method, headers: sent, body: chunked(body, chunkBytes) });
  const headers = { "content-length": String(body.byteLength), ...sent };
  return new Request(url, { method, headers, body });
}

function chunked(body: Bytes, chunkBytes: number): ReadableStream<Uint8Array> {
  let offset = 0;
  return new ReadableStream({
    pull(controller) {
      if (offset >= body.length) return controller.close();
      controller.enqueue(body.slice(offset, offset + chunkBytes));
      offset += chunkBytes;
    },
  });
}

const utf8 = (text: string): Bytes => new Uint8Array(new TextEncoder().encode(text));
const bytes = (...values: number[]): Bytes => Uint8Array.from(values);

const localeText = fc.oneof(
  fc.constantFrom("", "en", "de", "zh-TW", "pt_br", "nb-NO", "xx", "e", "de--AT", "en-x-private"),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.integer({ min: 30, max: 5000 }).map((length) => "a".repeat(length)),
);

/** Base 128, least significant group first, in more bytes than needed if `padding` says so. */
function varint(value: number, padding = 0): Bytes {
  const groups: number[] = [];
  for (let rest = value; groups.length === 0 || rest > 0; rest = Math.floor(rest / 128))
    groups.push(rest % 128);
  groups.push(...Array.from({ length: padding }, () => 0));
  return Uint8Array.from(groups, (group, index) =>
    index < groups.length - 1 ? group | 128 : group,
  );
}

const lengthDelimited = (field: number, content: Uint8Array) =>
  joined(varint(field * 8 + 2), varint(content.length), content);

const protoField: fc.Arbitrary<Bytes> = fc.oneof(
  { weight: 4, arbitrary: localeText.map((text) => lengthDelimited(1, utf8(text))) },
  fc
    .tuple(fc.integer({ min: 0, max: 2 ** 29 }), fc.uint8Array({ maxLength: 6 }))
    .map(([field, content]) => lengthDelimited(field, content)),
  fc
    .tuple(fc.nat(), fc.integer({ min: 0, max: 7 }))
    .map(([value, padding]) => joined(bytes(0x18), varint(value, padding))),
  fc.constantFrom(
    bytes(0x0a, 0x02, 0xff, 0xfe), // no UTF-8
    bytes(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f), // 4 GiB announced
    bytes(0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
    bytes(0x08, 0x01), // the locale as a number
    bytes(0x0d, 1, 2, 3, 4), // the locale as fixed32
    bytes(0x15, 1, 2, 3, 4),
    bytes(0x11, 1, 2, 3, 4, 5, 6, 7, 8),
    bytes(0x13, 0x14), // a group, empty
    bytes(0x13, 0x1c), // a group that another ends
    bytes(0x14),
    bytes(0x0e), // no wire type
    bytes(0x80),
  ),
  fc.integer({ min: 1, max: 4000 }).map((depth) => new Uint8Array(depth).fill(0x13)),
);

const protoMessage = fc
  .array(protoField, { maxLength: 3 })
  .map((fields) => joined(...fields))
  .chain(sometimesMutated);

const jsonMessage = fc
  .oneof(
    { weight: 4, arbitrary: localeText.map((locale) => JSON.stringify({ locale })) },
    fc.json(),
    fc.json().map((value) => `{"locale":${value}}`),
    fc.json().map((value) => `{"locale":"de","x":${value}}`),
    fc.constantFrom(
      "",
      "{}",
      " { } ",
      "\ufeff{}",
      "null",
      '{"locale":null}',
      '{"locale":"de","locale":"en"}',
      '{"locale":"\\ud800"}',
      '{"locale":"\\u0000"}',
      '{"__proto__":{"locale":"de"},"constructor":1}',
      '{"@type":"type.googleapis.com/locations.v1.LocationsRequest"}',
      '{"locale":1e999}',
      '{"locale":"de",}',
      "{'locale':'de'}",
    ),
    fc.integer({ min: 1, max: 4000 }).map((depth) => "[".repeat(depth)),
    fc
      .integer({ min: 1, max: 680 })
      .map((depth) => `{"x":${'{"x":'.repeat(depth)}1${"}".repeat(depth + 1)}`),
  )
  .map(utf8)
  .chain(sometimesMutated);

function sometimesMutated(whole: Bytes): fc.Arbitrary<Bytes> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(whole) },
    { weight: 1, arbitrary: mutatedBytes(whole) },
  );
}

/** A frame that mostly announces the length that it has. */
function frameOf(message: fc.Arbitrary<Bytes>): fc.Arbitrary<Bytes> {
  const flags = fc.oneof(
    { weight: 5, arbitrary: fc.constant(0) },
    fc.constantFrom(1, 2, 128, 129, 255),
  );
  const off = fc.oneof(
    { weight: 5, arbitrary: fc.constant(0) },
    fc.constantFrom(-1, 1, 4096, 2 ** 31, 2 ** 32 - 1),
  );
  return fc.tuple(flags, off, message).map(([flag, more, data]) => {
    const header = new DataView(new ArrayBuffer(5));
    header.setUint8(0, flag);
    header.setUint32(1, Math.max(0, data.length + more));
    return joined(new Uint8Array(header.buffer), data);
  });
}

function frames(message: fc.Arbitrary<Bytes>): fc.Arbitrary<Bytes> {
  const one = frameOf(message).map((frame) => [frame]);
  const some = fc.array(frameOf(fc.oneof(message, fc.constant(utf8("grpc-status: 0\r\n")))), {
    maxLength: 3,
  });
  return fc
    .oneof({ weight: 2, arbitrary: one }, some)
    .map((all) => joined(...all))
    .chain(sometimesMutated);
}

/** Frames in base64, each padded by itself or all as one, sometimes with what base64 has not. */
const base64Frames = fc
  .tuple(
    fc.array(frames(protoMessage), { minLength: 1, maxLength: 2 }),
    fc.constantFrom("each", "whole", "url", "unpadded", "lines"),
  )
  .map(([parts, form]) => {
    const whole = joined(...parts);
    switch (form) {
      case "each":
        return parts.map((part) => Buffer.from(part).toString("base64")).join("");
      case "url":
        return Buffer.from(whole).toString("base64url");
      case "unpadded":
        return Buffer.from(whole).toString("base64").replaceAll("=", "");
      case "lines":
        return Buffer.from(whole).toString("base64").replaceAll(/.{76}/g, "$&\r\n");
      case "whole":
        return Buffer.from(whole).toString("base64");
      default:
        return form satisfies never;
    }
  })
  .map(utf8)
  .chain(sometimesMutated);

/** Any value that an HTTP header can have, in ASCII: a Request has the others in UTF-8. */
const anyHeaderValue = fc
  .string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) })
  .map((text) => text.trim());

function headerValue(...usual: string[]): fc.Arbitrary<string> {
  return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...usual) }, anyHeaderValue);
}

const entityTags = fc
  .array(
    fc.oneof(
      fc.constantFrom("*", '""', 'W/""', '"a,b"', "W/", '"', "x", ""),
      fc.stringMatching(/^"[0-9a-f]{32}"$/),
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((tags) => tags.join(", "));

const HEADERS: { readonly [name: string]: fc.Arbitrary<string> } = {
  "accept-encoding": headerValue(
    "br",
    "gzip, br",
    "identity;q=0",
    "*;q=0",
    "gzip;q=0.001, br;q=0",
    ",,;q=1,gzip;q",
    "GZIP",
    "br;q=1.0001",
    "x".repeat(300),
  ),
  "if-none-match": entityTags,
  "connect-timeout-ms": headerValue("5000", "99999999999", "2147483648", "-1", "1e3", "5000, 5000"),
  "grpc-timeout": headerValue("5S", "1H", "99999999H", "999999999S", "5", "5s", "-5S", "5S, 5S"),
  "connect-protocol-version": headerValue("1", "2", ""),
  "content-encoding": headerValue("gzip", "identity", "br", "", "gzip, gzip"),
  "grpc-encoding": headerValue("gzip", "identity", ""),
  "connect-content-encoding": headerValue("gzip", "identity"),
  "grpc-accept-encoding": headerValue("gzip", "identity,gzip"),
  "connect-accept-encoding": headerValue("gzip"),
  "x-grpc-web": headerValue("1"),
  "x-user-agent": anyHeaderValue,
  "x-custom-bin": headerValue("AAAA", "!"),
  origin: headerValue("https://example.com", "null"),
  te: fc.constant("trailers"),
};

function headersWith(contentType: fc.Arbitrary<string>): fc.Arbitrary<Record<string, string>> {
  const some = fc.record(HEADERS, { requiredKeys: [] });
  const type = fc.option(contentType, { freq: 30, nil: undefined });
  return fc
    .tuple(type, some, fc.subarray(Object.keys(HEADERS), { maxLength: 3 }))
    .map(([value, all, names]) => ({
      ...(value === undefined ? {} : { "content-type": value }),
      ...Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name))),
    }));
}

const chunkBytes = fc.option(fc.integer({ min: 1, max: 600 }), { nil: undefined });

const path = fc.oneof(
  { weight: 20, arbitrary: fc.constant(PATH) },
  fc.constantFrom(
    `${PATH}?`,
    `${PATH}/`,
    `${PATH}x`,
    PATH.toLowerCase(),
    PATH.replace("G", "%47"),
    `/${PATH}`,
    `${PATH}?encoding=json&message=%7B%7D`,
    "/locations.v1.LocationsService/",
    "/locations.v1.LocationsService/__proto__",
    "/locations.v1.LocationsService/%00",
  ),
);

function posts(
  contentType: fc.Arbitrary<string>,
  body: fc.Arbitrary<Bytes>,
): fc.Arbitrary<AskedParts> {
  const method = fc.oneof(
    { weight: 20, arbitrary: fc.constant("POST") },
    fc.constantFrom("PUT", "PATCH", "DELETE", "OPTIONS"),
  );
  return fc.record({ method, path, headers: headersWith(contentType), body, chunkBytes });
}

/** A media type as usual, or in another case, with parameters, or something else. */
function mediaTypes(...usual: string[]): fc.Arbitrary<string> {
  const odd = fc
    .tuple(
      fc.constantFrom(...usual),
      fc.constantFrom(";", "; charset=utf-8", ";charset=utf8", "+", " x", ", text/plain"),
    )
    .map(([type, rest]) => type + rest);
  return fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...usual) },
    fc.constantFrom(...usual).map((type) => type.toUpperCase()),
    odd,
    headerValue("application/grpc", "application/connect+proto", "text/plain", "*/*", ""),
  );
}

export const connectPosts = fc.oneof(
  posts(mediaTypes("application/proto"), protoMessage),
  posts(mediaTypes("application/json"), jsonMessage),
);

export const grpcWebPosts = fc.oneof(
  posts(mediaTypes("application/grpc-web", "application/grpc-web+proto"), frames(protoMessage)),
  posts(mediaTypes("application/grpc-web+json"), frames(jsonMessage)),
);

export const grpcWebTextPosts = posts(
  mediaTypes("application/grpc-web-text", "application/grpc-web-text+proto"),
  base64Frames,
);

/** A message in a query: percent-encoded or as it is, in either base64 or none. */
const queryMessage = fc
  .tuple(
    fc.oneof(protoMessage, jsonMessage),
    fc.constantFrom("base64", "base64url", "unpadded", "text", "raw"),
  )
  .map(([message, form]) => {
    const encoded = Buffer.from(message);
    switch (form) {
      case "base64":
        return encodeURIComponent(encoded.toString("base64"));
      case "base64url":
        return encoded.toString("base64url");
      case "unpadded":
        return encoded.toString("base64").replaceAll("=", "");
      case "text":
        return encoded.toString("latin1").replaceAll(/[^a-z]/g, percentEncoded);
      case "raw":
        return encoded.toString("latin1").replaceAll(/[#\s]/g, "");
      default:
        return form satisfies never;
    }
  });

function percentEncoded(char: string): string {
  return `%${char.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

const query = fc
  .tuple(
    fc.record({
      connect: fc.constantFrom("v1", "v2", ""),
      encoding: fc.constantFrom("proto", "json", "proto", "json", "PROTO", "", "br"),
      message: fc.oneof(
        { weight: 6, arbitrary: queryMessage },
        fc.constantFrom("", "%", "%zz", "!", "="),
      ),
      base64: fc.constantFrom("1", "1", "0", "", "true"),
      compression: fc.constantFrom("identity", "gzip", "", "br"),
    }),
    fc.shuffledSubarray(["connect", "encoding", "message", "base64"], { minLength: 2 }),
    fc.array(fc.constantFrom("compression", "message", "encoding", "base64"), { maxLength: 1 }),
  )
  .map(([values, some, more]) => {
    const written = new Map(Object.entries(values));
    return `?${[...some, ...more].map((name) => `${name}=${written.get(name)}`).join("&")}`;
  });

/** Connect GETs and HEADs. */
export const connectGets: fc.Arbitrary<AskedParts> = fc
  .record({
    method: fc.constantFrom("GET", "GET", "GET", "HEAD"),
    path: fc.oneof({ weight: 9, arbitrary: fc.constant(PATH) }, path),
    query: fc.oneof({ weight: 9, arbitrary: query }, fc.webQueryParameters()),
    headers: headersWith(fc.constantFrom("application/proto", "application/grpc-web", "")),
  })
  .map(({ query: asked, path: to, ...rest }) => ({
    ...rest,
    path: to + asked,
    body: new Uint8Array(),
  }));
