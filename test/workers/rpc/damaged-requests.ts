/** What strangers can send: recorded requests with a damaged body, and with parts of other requests. */
import fc from "fast-check";
import { frame } from "../../builders/frames.ts";
import { mutatedBytes } from "../../builders/mutations.ts";
import recorded from "../../cases/protocol-requests.json";

/** A request in parts, which a failed property can print. */
export interface AskedParts {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array<ArrayBuffer>;
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

function chunked(body: Uint8Array, chunkBytes: number): ReadableStream<Uint8Array> {
  let offset = 0;
  return new ReadableStream({
    pull(controller) {
      if (offset >= body.length) return controller.close();
      controller.enqueue(body.slice(offset, offset + chunkBytes));
      offset += chunkBytes;
    },
  });
}

const rows = recorded.map(({ bodyHex = "", method, url, headers }) => ({
  method,
  path: url,
  headers: Object.entries(headers),
  body: Buffer.from(bodyHex, "hex"),
}));

/** Kinds of messages that no recorded request has: deep, long, odd or of impossible lengths. */
export const MESSAGES = [
  Buffer.from("0affffffffffffffffff01", "hex"),
  Buffer.from("0a85800065", "hex"),
  Buffer.from("0d01020304", "hex"),
  Buffer.from("0a03a06465", "hex"),
  Buffer.from("131c", "hex"),
  Buffer.alloc(4_000, 0x13),
  Buffer.alloc(5_000, 0x61),
  ...[
    "[".repeat(4_000),
    '{"x":'.repeat(700),
    '{"locale":"\\ud800"}',
    '{"locale":"de","locale":"en"}',
    '{"locale":null,"locale":"en"}',
    '{"locale":"d\u0065"}',
    '{"locale":"\tde"}',
    ' {\n  "locale" : "de"\r\n}\t',
    '\u00a0{"locale":"de"}',
    '{"__proto__":{"locale":"de"},"constructor":1}',
    "\ufeff{}",
  ].map((text) => Buffer.from(text)),
];

/** The same in a frame, which may have other flags. */
const FRAMES = MESSAGES.flatMap((message) =>
  [0, 1, 128, 255].map((flags) => frame(message, flags)),
);

/** Headers that no recorded request has, and values that may follow those of others. */
const HEADERS = [
  ...rows.flatMap(({ headers }) => headers),
  ["accept-encoding", "gzip;q=0.001, br;q=0,,;q=1"],
  ["accept-encoding", "*;q=0"],
  ["if-none-match", 'W/"", "a,b", W/'],
  ["if-none-match", '"x", *'],
  ["connect-timeout-ms", "1e3"],
  ["content-encoding", "gzip, gzip"],
  ["connect-content-encoding", "gzip"],
  ["origin", "null"],
] as const;
const MORE = ["", "", "", "0", "x", ", 5S", ";", "; charset=utf8", ";q=0", "="];

/** The query of a Connect GET, whose message may be that of another request. */
const query = (path: string, message: Uint8Array) =>
  path.includes("encoding=json")
    ? encodeURIComponent(Buffer.from(message).toString())
    : Buffer.from(message).toString("base64url");

/**
 * Requests like the recorded ones of a kind: with a damaged body, mostly with a header of another one,
 * sometimes with its method or path.
 */
function like(
  isOfKind: (row: (typeof rows)[number]) => boolean,
  bodies: readonly Uint8Array[],
): fc.Arbitrary<AskedParts> {
  const kind = rows.filter(isOfKind);
  const parts = fc.record({
    row: fc.constantFrom(...kind),
    other: fc.constantFrom(...rows),
    body: fc.constantFrom(...kind.map(({ body }) => body), ...bodies).chain(mutatedBytes),
    header: fc.option(fc.constantFrom(...HEADERS)),
    more: fc.constantFrom(...MORE),
    is: fc.record({ elsewhere: fc.nat(19), asked: fc.nat(19), own: fc.nat(2) }),
    chunkBytes: fc.option(fc.integer({ min: 1, max: 600 }), { nil: undefined }),
  });
  return parts.map(({ row, other, body, header, more, is, chunkBytes }) => {
    const method = is.asked === 0 ? other.method : row.method;
    const path = is.elsewhere === 0 ? other.path : row.path;
    const added = header === null ? [] : [[header[0], header[1] + more]];
    return {
      method,
      path: is.own === 0 ? path : path.replace(/(?<=&message=)[^&]*/, query(path, body)),
      headers: Object.fromEntries([...row.headers, ...added]),
      body,
      chunkBytes,
    };
  });
}

const typeOf = ({ headers }: (typeof rows)[number]) => new Map(headers).get("content-type") ?? "";

export const connectGets = like(({ method }) => method === "GET" || method === "HEAD", MESSAGES);
export const connectPosts = like(
  (row) => row.method === "POST" && !typeOf(row).includes("grpc"),
  MESSAGES,
);
export const grpcWebPosts = like((row) => /grpc-web(?!-text)/.test(typeOf(row)), FRAMES);
const base64 = FRAMES.flatMap((framed) => [
  Buffer.from(framed.toString("base64")),
  Buffer.from(framed.toString("base64url")),
  Buffer.from(framed.toString("base64").replace(/.{76}/g, "$&\r\n")),
]);
export const grpcWebTextPosts = like((row) => typeOf(row).includes("grpc-web-text"), base64);
