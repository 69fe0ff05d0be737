import { type Coding, CODINGS } from "../parts/manifest.ts";
import { memoize } from "../platform/once.ts";
import { type AnyCoding, MESSAGE_CODINGS, type MessageCoding } from "../parts/compose.ts";
import type { RequestHead } from "./request.ts";

/**
 * Lists the codings that the client accepts, best first, always including `identity` (RFC 9110,
 * section 12.5.3). Cloudflare's edge rewrites Accept-Encoding and puts the client's own value into
 * `cf.clientAcceptEncoding`. A request without `cf` did not come through the edge.
 */
export function acceptedCodings(
  request: Pick<RequestHead, "headers" | "cf" | "isGrpcWeb">,
): readonly AnyCoding[] {
  const { cf } = request;
  const accepted =
    cf === undefined ? request.headers.get("accept-encoding") : cf["clientAcceptEncoding"];
  const codings = parseAcceptEncoding(typeof accepted === "string" ? accepted : "");
  const ofMessages = request.isGrpcWeb ? request.headers.get("grpc-accept-encoding") : null;
  return ofMessages === null ? codings : withMessageCodings(codings, ofMessages);
}

/**
 * Adds the codings that a gRPC-Web client accepts for messages, before `identity`. A coding of the
 * whole body is better where the client accepts one: browsers decode it themselves.
 */
function withMessageCodings(codings: readonly AnyCoding[], accepted: string): readonly AnyCoding[] {
  const identityAt = codings.indexOf("identity");
  return [
    ...codings.slice(0, identityAt),
    ...parseMessageCodings(accepted),
    ...codings.slice(identityAt),
  ];
}

const parseMessageCodings = memoize((value): readonly MessageCoding[] => {
  const names = new Set(
    value
      .toLowerCase()
      .split(",")
      .map((name) => name.trim()),
  );
  const known: readonly MessageCoding[] = ["grpc-br", "grpc-gzip"];
  return known.filter((coding) => names.has(MESSAGE_CODINGS[coding]));
});

/** Parses an Accept-Encoding value. Sorts by weight, then by body size, smallest first. */
export const parseAcceptEncoding = memoize((value): readonly Coding[] => {
  const weights = parseWeights(value);
  const others = weights.get("*") ?? 0;
  const unnamed = { br: others, gzip: others, identity: LEAST_WEIGHT };
  const weightOf = (coding: Coding): number => weights.get(coding) ?? unnamed[coding];
  const accepted = CODINGS.filter((coding) => weightOf(coding) > 0).toSorted(
    (a, b) => weightOf(b) - weightOf(a),
  );
  // A client that refuses even identity still gets an answer instead of a 406.
  return accepted.includes("identity") ? accepted : [...accepted, "identity"];
});

/** Lower than any weight a client can write: an unmentioned identity comes last. */
const LEAST_WEIGHT = 0.0001;

function parseWeights(value: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const element of value.toLowerCase().split(",")) {
    const [name = "", ...parameters] = element.split(";").map((part) => part.trim());
    const q = parameters.find((parameter) => parameter.startsWith("q="));
    if (name !== "") weights.set(name, q === undefined ? 1 : parseWeight(q.slice(2)));
  }
  return weights;
}

/** Parses a weight. A malformed one counts as a refusal: a wrong guess breaks the client. */
function parseWeight(text: string): number {
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}
