import { type Coding, CODINGS } from "../catalog/manifest.ts";
import type { RequestHead } from "./request-head.ts";

/** Distinct header values whose answer is remembered; real clients send a few dozen. */
const MEMO_MAX_ENTRIES = 256;
const MEMO_MAX_LENGTH = 128;
const memo = new Map<string, readonly Coding[]>();
/** One array for each list, so that a list can be told by it. */
const lists = new Map<string, readonly Coding[]>();

/**
 * Codings that the client takes, best first; `identity` is always among them (RFC 9110, section
 * 12.5.3). At Cloudflare's edge the Accept-Encoding header is not the client's own, which is in
 * `cf.clientAcceptEncoding`; without `cf` the request did not come through the edge.
 */
export function acceptedCodings(request: Pick<RequestHead, "headers" | "cf">): readonly Coding[] {
  const { cf } = request;
  const accepted =
    cf === undefined ? request.headers.get("accept-encoding") : cf["clientAcceptEncoding"];
  return parseAcceptEncoding(typeof accepted === "string" ? accepted : "");
}

/**
 * Codings of an Accept-Encoding value, best first: by weight, and smallest body first. Always the
 * same array for the same list.
 */
export function parseAcceptEncoding(value: string): readonly Coding[] {
  const known = memo.get(value);
  if (known !== undefined) return known;
  const weights = parseWeights(value);
  const weightOf = (coding: Coding): number =>
    weights.get(coding) ?? (coding === "identity" ? LEAST_WEIGHT : (weights.get("*") ?? 0));
  const accepted = CODINGS.filter((coding) => weightOf(coding) > 0).toSorted(
    (a, b) => weightOf(b) - weightOf(a),
  );
  // A client that refuses even identity is better served than turned away.
  const codings = theList(accepted.includes("identity") ? accepted : [...accepted, "identity"]);
  if (memo.size < MEMO_MAX_ENTRIES && value.length <= MEMO_MAX_LENGTH) memo.set(value, codings);
  return codings;
}

function theList(codings: readonly Coding[]): readonly Coding[] {
  const name = codings.join();
  const known = lists.get(name);
  if (known === undefined) lists.set(name, codings);
  return known ?? codings;
}

/** Below every weight that can be written: identity is acceptable unless mentioned, but last. */
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

/** A weight of 0 to 1; anything else counts as a refusal, since a wrong guess breaks the client. */
function parseWeight(text: string): number {
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}
