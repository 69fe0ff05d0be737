import { type Coding, CODINGS } from "../catalog/manifest.ts";
import { memoize } from "../catalog/memoize.ts";
import type { RequestHead } from "./request-head.ts";

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

/** Codings of an Accept-Encoding value, best first: by weight, and smallest body first. */
export const parseAcceptEncoding = memoize((value): readonly Coding[] => {
  const weights = parseWeights(value);
  const weightOf = (coding: Coding): number =>
    weights.get(coding) ?? (coding === "identity" ? LEAST_WEIGHT : (weights.get("*") ?? 0));
  const accepted = CODINGS.filter((coding) => weightOf(coding) > 0).toSorted(
    (a, b) => weightOf(b) - weightOf(a),
  );
  // A client that refuses even identity is better served than turned away.
  return accepted.includes("identity") ? accepted : [...accepted, "identity"];
});

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
