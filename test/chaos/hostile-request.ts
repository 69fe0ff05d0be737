/** A request with values from the table of values. Pure: all of it comes from the random numbers. */
import { type HostileKind, hostileValues, ROUTE_FIELDS } from "../builders/hostile-values.ts";
import type { Random } from "./random.ts";

export interface HostileRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: { readonly [field: string]: unknown } | undefined;
}

/**
 * Routes whose outcomes the harness must know: it calls these itself, and remembers the answers. A
 * hostile id finds nothing to cancel or decide.
 */
const ASKED_FOR_OTHERWISE = ["post /admin/catalog/rollback", "post /admin/catalog/take-over"];

const ROUTES = Object.entries(ROUTE_FIELDS).filter(
  ([route]) => !ASKED_FOR_OTHERWISE.includes(route),
);

/** How often a field that may be left out is given. */
const GIVEN_CHANCE = 0.5;

/** @param now milliseconds since 1970, by the Worker's clock. */
export function hostileRequest(random: Random, now: number): HostileRequest {
  const [route, fields] = random.pick(ROUTES);
  const [method = "", template = ""] = route.split(" ");
  let path = template;
  const query = new URLSearchParams();
  const headers: { [name: string]: string } = {};
  const body: { [field: string]: unknown } = {};
  for (const [field, kind] of Object.entries(fields)) {
    const [place, name = ""] = field.split(" ");
    const value = pickValue(random, kind, now);
    if (place === "path") path = path.replace(`{${name}}`, encodeURIComponent(textOf(value)));
    else if (!random.chance(GIVEN_CHANCE)) continue;
    else if (place === "query") query.set(name, textOf(value));
    else if (place === "header") headers[name] = textOf(value);
    else body[name] = value;
  }
  const search = query.size === 0 ? "" : `?${query.toString()}`;
  const hasBody = method === "post";
  return {
    method: method.toUpperCase(),
    path: `${path}${search}`,
    headers,
    body: hasBody ? body : undefined,
  };
}

function pickValue(random: Random, kind: HostileKind, now: number): unknown {
  return random.pick(hostileValues(kind, now).map((value) => ({ value }))).value;
}

function textOf(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.toWellFormed();
}
