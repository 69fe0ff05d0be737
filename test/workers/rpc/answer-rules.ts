import { Code } from "@connectrpc/connect";
import { codeFromString, codeToHttpStatus } from "@connectrpc/connect/protocol-connect";
import { framesOf } from "../../builders/frames.ts";

/** What of a request its answer depends on. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  /** Published locales. */
  readonly locales: readonly string[];
}

export interface Answer {
  readonly response: Response;
  readonly body: Uint8Array;
}

/** A rule that every answer keeps, whatever was asked, by name. */
type Rules = Record<string, boolean>;

/** Headers that scripts of other origins must be able to read. */
const EXPOSED = [
  "cache-control",
  "catalog-sha256",
  "catalog-version",
  "content-language",
  "etag",
  "grpc-message",
  "grpc-status",
  "grpc-status-details-bin",
  "last-modified",
  "locale-fallback",
  "repr-digest",
  "retry-after",
  "vary",
];

/** Shortest message of a catalog: an empty one has none of it. */
const MESSAGE_MIN_BYTES = 100;

/** Names of the rules that an answer breaks. */
export function brokenRules(asked: Asked, answer: Answer): string[] {
  const rules: Rules = { ...headerRules(asked, answer.response), ...bodyRules(asked, answer) };
  return Object.entries(rules).flatMap(([name, kept]) => (kept ? [] : [name]));
}

function headerRules({ locales }: Asked, { status, headers }: Response): Rules {
  const locale = headers.get("content-language");
  const isSuccess = locale !== null;
  const exposed = headers.get("access-control-expose-headers")?.toLowerCase().split(", ") ?? [];
  return {
    "any origin may read it": headers.get("access-control-allow-origin") === "*",
    "its headers are exposed": EXPOSED.every((name) => exposed.includes(name)),
    "it has no HTTP trailers": !headers.has("trailer"),
    "405 and OPTIONS say what is allowed": [204, 405].includes(status) === headers.has("allow"),
    "415 and OPTIONS say what is supported":
      [204, 415].includes(status) === headers.has("accept-post"),
    "a success is in a published locale": !isSuccess || locales.includes(locale),
    "a success is 200 or 304": !isSuccess || status === 200 || status === 304,
    "a success has a tag and only it has": isSuccess === headers.has("etag"),
    "a success has a digest, unless of gRPC-Web":
      headers.has("repr-digest") ===
      (isSuccess && !headers.get("content-type")?.startsWith("application/grpc-web")),
    "an error has no coding": isSuccess || !headers.has("content-encoding"),
    "an error is not cached":
      isSuccess || headers.get("cache-control")?.includes("max-age") !== true,
  };
}

function bodyRules(asked: Asked, { response, body }: Answer): Rules {
  const { status, headers } = response;
  const isEmpty = [204, 304, 405, 415].includes(status);
  // A path without a method; an error of the method has a type.
  const isUnknown = status === 404 && !headers.has("content-type");
  if (asked.method === "HEAD" || isEmpty || isUnknown)
    return { "it has no body": body.byteLength === 0 };
  if (headers.has("content-encoding")) return { "a coded body is a success": status === 200 };
  const contentType = headers.get("content-type") ?? "";
  if (contentType.startsWith("application/grpc-web-text")) {
    return grpcWebRules(
      response,
      new Uint8Array(Buffer.from(Buffer.from(body).toString(), "base64")),
    );
  }
  if (contentType.startsWith("application/grpc-web")) return grpcWebRules(response, body);
  return status === 200
    ? connectSuccessRules(asked, contentType, body)
    : connectErrorRules(status, body);
}

function connectSuccessRules(asked: Asked, contentType: string, body: Uint8Array): Rules {
  const codec = /encoding=(proto|json)/.exec(asked.path)?.[1];
  const wanted = asked.method === "POST" ? asked.headers["content-type"] : `application/${codec}`;
  return {
    "it is in the request's codec": wanted?.toLowerCase().startsWith(contentType) === true,
    "it is a catalog": body.byteLength >= MESSAGE_MIN_BYTES,
  };
}

function connectErrorRules(status: number, body: Uint8Array): Rules {
  const error: unknown = JSON.parse(new TextDecoder().decode(body));
  const { code, message, details = [] } = Object(error);
  const known = codeFromString(code) ?? Code.Unknown;
  return {
    "its code is that of the status": codeToHttpStatus(known) === status,
    "it has a message": typeof message === "string",
    "its details are unpadded base64": details.every((detail: { value: string }) =>
      /^[A-Za-z0-9+/]*$/.test(detail.value),
    ),
  };
}

function grpcWebRules({ status, headers }: Response, body: Uint8Array): Rules {
  const frames = framesOf(body);
  const trailer = frames.at(-1);
  const text = new TextDecoder().decode(trailer?.data);
  const succeeded = text.includes("grpc-status: 0\r\n");
  const flags = frames.map((frame) => frame.flags).join();
  const isCompressed = headers.has("grpc-encoding");
  const message = /^grpc-message: (.*)\r$/m.exec(text)?.[1] ?? "";
  return {
    "gRPC-Web is always 200": status === 200,
    "a trailer is last, after a data frame just in a success":
      flags === (succeeded ? `${isCompressed ? 1 : 0},128` : "128"),
    "trailers are lines in lower case": /^(?:[a-z0-9-]+: [\x20-\x7e]*\r\n)+$/.test(text),
    "the message is percent-encoded": /^(?:[\w\-.!~*'()]|%[0-9A-F]{2})*$/.test(message),
    "headers agree with the trailers": succeeded === headers.has("content-language"),
    "it is a catalog":
      !succeeded || isCompressed || (frames[0]?.data.byteLength ?? 0) >= MESSAGE_MIN_BYTES,
  };
}
