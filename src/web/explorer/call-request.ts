import type { CallSettings } from "./permalink.ts";

/** The path of the RPC, in each of its protocols. */
export const PATH = "/locations.v1.LocationsService/GetLocationsV1";

/** The first byte of a gRPC-Web message is a flag, and the next four are its length. */
const ENVELOPE_BYTES = 5;

export interface CallRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** Of the body; none with GET. */
  readonly contentType: string | undefined;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
}

/** Writes the explorer's call as a request. `origin` is the service's. */
export function callRequest(
  { protocol, encoding, locale }: CallSettings,
  origin: string,
): CallRequest {
  const json = JSON.stringify({ locale });
  const message = encoding === "json" ? new TextEncoder().encode(json) : requestBytes(locale);
  if (protocol === "connect-get") {
    const sent =
      encoding === "json"
        ? `encoding=json&message=${encodeURIComponent(json)}`
        : `base64=1&encoding=proto&message=${base64Url(message)}`;
    const url = `${origin}${PATH}?connect=v1&${sent}`;
    return { method: "GET", url, contentType: undefined, body: undefined };
  }
  const isFramed = protocol === "grpc-web";
  return {
    method: "POST",
    url: `${origin}${PATH}`,
    contentType: `application/${isFramed ? "grpc-web+" : ""}${encoding}`,
    body: isFramed ? envelope(message) : message,
  };
}

/** Returns the message in the answer to a call in Protobuf; nothing of a gRPC-Web answer that has none. */
export function messageIn(
  { protocol }: CallSettings,
  body: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  if (protocol !== "grpc-web") return body;
  if (body.length < ENVELOPE_BYTES || body[0] !== 0) return body.slice(0, 0);
  const length = new DataView(body.buffer, body.byteOffset).getUint32(1);
  return body.slice(ENVELOPE_BYTES, ENVELOPE_BYTES + length);
}

/** Encodes a LocationsRequest: field 1 with the locale, which has less than 128 bytes. */
function requestBytes(locale: string): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(locale);
  return Uint8Array.from(text.length === 0 ? [] : [0x0a, text.length, ...text]);
}

function envelope(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const framed = new Uint8Array(ENVELOPE_BYTES + message.length);
  new DataView(framed.buffer).setUint32(1, message.length);
  framed.set(message, ENVELOPE_BYTES);
  return framed;
}

export function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

function base64Url(bytes: Uint8Array): string {
  return base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/==?$/, "");
}
