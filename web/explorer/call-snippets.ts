import type { CallSettings } from "./permalink.ts";

const PATH = "/locations.v1.LocationsService/GetLocationsV1";

/** Languages of the copied calls. */
export type SnippetKind = "curl" | "buf" | "typescript";

/** Writes the explorer's call as code. `origin` is the service's. */
export function callSnippet(kind: SnippetKind, settings: CallSettings, origin: string): string {
  switch (kind) {
    case "curl":
      return curlSnippet(settings, origin);
    case "buf":
      return bufSnippet(settings, origin);
    case "typescript":
      return typeScriptSnippet(settings, origin);
    default:
      return kind satisfies never;
  }
}

/** The address of the call over Connect GET in protobuf, as Connect's client and `early-call.js` have it. */
export function getUrl(locale: string, origin: string): string {
  const message = base64Url(requestBytes(locale));
  return `${origin}${PATH}?connect=v1&base64=1&encoding=proto&message=${message}`;
}

function curlSnippet({ protocol, encoding, locale }: CallSettings, origin: string): string {
  const url = `${origin}${PATH}`;
  const json = JSON.stringify({ locale });
  const message = encoding === "json" ? new TextEncoder().encode(json) : requestBytes(locale);
  // A terminal cannot show binary answers.
  const output = encoding === "json" && protocol !== "grpc-web" ? [] : ["-o locations.bin"];
  const curl = (...parts: readonly string[]) =>
    ["curl --compressed", ...output, ...parts].join(" \\\n  ");
  if (protocol === "connect-get") {
    const asked = `${url}?connect=v1&encoding=json&message=${encodeURIComponent(json)}`;
    return curl(quote(encoding === "json" ? asked : getUrl(locale, origin)));
  }
  if (protocol === "connect" && encoding === "json")
    return curl(`--json ${quote(json)}`, quote(url));
  const isFramed = protocol === "grpc-web";
  const type = `application/${isFramed ? "grpc-web+" : ""}${encoding}`;
  const body = base64(isFramed ? envelope(message) : message);
  const sent = curl(`-H ${quote(`content-type: ${type}`)}`, "--data-binary @-", quote(url));
  return `echo ${body} | base64 --decode |\n  ${sent}`;
}

function bufSnippet({ protocol, locale }: CallSettings, origin: string): string {
  return [
    `npx @bufbuild/buf curl --schema ${quote(`${origin}/locations.binpb`)}`,
    `--protocol ${protocol === "grpc-web" ? "grpcweb" : "connect"}`,
    `-d ${quote(JSON.stringify({ locale }))}`,
    quote(`${origin}${PATH}`),
  ].join(" \\\n  ");
}

function typeScriptSnippet({ protocol, encoding, locale }: CallSettings, origin: string): string {
  const factory = protocol === "grpc-web" ? "createGrpcWebTransport" : "createConnectTransport";
  const options = [
    `baseUrl: ${JSON.stringify(origin)}`,
    `useBinaryFormat: ${encoding === "proto"}`,
    ...(protocol === "connect-get" ? ["useHttpGet: true"] : []),
  ];
  return `// npm install ${origin}/client.tgz @connectrpc/connect@2.2.0 @connectrpc/connect-web@2.2.0
import { createClient } from "@connectrpc/connect";
import { ${factory} } from "@connectrpc/connect-web";
import { LocationsService } from "locations-at-the-edge-client/service";

const transport = ${factory}({
${options.map((option) => `  ${option},`).join("\n")}
});
const client = createClient(LocationsService, transport);
const { airports, cities, countries, regions } = await client.getLocationsV1({
  locale: ${JSON.stringify(locale)},
});`;
}

/** Encodes a LocationsRequest: field 1 with the locale, which has less than 128 bytes. */
function requestBytes(locale: string): Uint8Array {
  const text = new TextEncoder().encode(locale);
  return Uint8Array.from(text.length === 0 ? [] : [0x0a, text.length, ...text]);
}

/** Frames a gRPC-Web message: a flag byte, the length, the message. */
function envelope(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(5 + message.length);
  new DataView(framed.buffer).setUint32(1, message.length);
  framed.set(message, 5);
  return framed;
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

function base64Url(bytes: Uint8Array): string {
  return base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/==?$/, "");
}

/** Quotes a text as one word of a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
