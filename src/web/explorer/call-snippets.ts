import { base64, callRequest, PATH } from "./call-request.ts";
import type { CallSettings } from "./permalink.ts";

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

function curlSnippet(settings: CallSettings, origin: string): string {
  const { url, contentType, body } = callRequest(settings, origin);
  const { protocol, encoding, locale } = settings;
  // A terminal cannot show binary answers.
  const output = encoding === "json" && protocol !== "grpc-web" ? [] : ["-o locations.bin"];
  const curl = (...parts: readonly string[]) =>
    ["curl --compressed", ...output, ...parts].join(" \\\n  ");
  if (body === undefined) return curl(quote(url));
  if (contentType === "application/json")
    return curl(`--json ${quote(JSON.stringify({ locale }))}`, quote(url));
  const sent = curl(`-H ${quote(`content-type: ${contentType}`)}`, "--data-binary @-", quote(url));
  return `echo ${base64(body)} | base64 --decode |\n  ${sent}`;
}

function bufSnippet({ protocol, locale }: CallSettings, origin: string): string {
  return [
    "npx buf curl --schema proto",
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
  return `import { createClient } from "@connectrpc/connect";
import { ${factory} } from "@connectrpc/connect-web";
import { LocationsService } from "./gen/locations/v1/locations_pb.ts";

const transport = ${factory}({
${options.map((option) => `  ${option},`).join("\n")}
});
const client = createClient(LocationsService, transport);
const { airports, cities, countries, regions } = await client.getLocationsV1({
  locale: ${JSON.stringify(locale)},
});`;
}

/** Quotes a text as one word of a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
