/** Requests to the admin routes, right and wrong. */
import fc from "fast-check";
import { OPERATOR_TOKEN } from "./admin-tokens.ts";
import { anId } from "./an-id.ts";
import { mutatedBytes } from "./mutations.ts";
import { OPENAPI } from "./openapi-check.ts";

/** Fields of bodies and of answers, as the OpenAPI document names them, and some of any object. */
const fieldName = fc.constantFrom(
  ...propertyNames(OPENAPI),
  "__proto__",
  "constructor",
  "toString",
  "",
);

/** Names of all `properties` in a JSON Schema, or in whatever has some. */
function propertyNames(within: unknown): Set<string> {
  const names = new Set<string>();
  JSON.stringify(within, (key, value: unknown) => {
    if (key === "properties") for (const name of Object.keys(value ?? {})) names.add(name);
    return value;
  });
  return names;
}

const ID = anId(0);

const fieldValue = fc.oneof(
  fc.json(),
  fc.string({ unit: "binary", maxLength: 600 }).map((text) => JSON.stringify(text)),
  fc.constantFrom(
    "true",
    "null",
    "1e999",
    "-0",
    "9007199254740993",
    "1".repeat(400),
    '"\\ud800"',
    '"\\u0000"',
    '"2026-11-22T06:00:00Z"',
    '"+275760-09-13T00:00:00Z"',
    '"2026-02-30T00:00:00Z"',
    '"0000-01-01T00:00:00+23:59"',
    '"9999-12-31T23:59:59-23:59"',
    '"full"',
    '"dry_run"',
    '"reject"',
    '"embedded"',
    '{"__proto__":{"force":true}}',
  ),
);

const fields = fc
  .array(fc.tuple(fieldName, fieldValue), { maxLength: 4 })
  .map((all) => `{${all.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`);

const body = fc
  .oneof(
    { weight: 5, arbitrary: fields },
    fc.json(),
    fc.constantFrom("", " ", "null", "[]", '""', "\ufeff{}", "{}{}", '{"a":1,}'),
    fc
      .integer({ min: 1, max: 9000 })
      .chain((depth) => fc.constantFrom("[".repeat(depth), '{"a":'.repeat(depth / 5))),
    fc.integer({ min: 1, max: 8000 }).map((depth) => "[".repeat(depth) + "]".repeat(depth)),
    fc.integer({ min: 16_000, max: 17_000 }).map((length) => `{"note":"${"x".repeat(length)}"}`),
    fc.integer({ min: 1, max: 8000 }).map((length) => `{"${'\\"'.repeat(length)}":1}`),
  )
  .map((text) => new TextEncoder().encode(text))
  .chain((whole) => fc.oneof({ weight: 3, arbitrary: fc.constant(whole) }, mutatedBytes(whole)));

const queryValue = fc.oneof(
  fc.constantFrom("", "0", "1", "200", "201", "-1", "1e2", "9".repeat(30), "failed", "queued"),
  fc.constantFrom("2026-11-21T06:00:00Z", "2026-11-21", "%ff", "%00", "%", "%ed%a0%80", "null"),
  fc
    .string({ unit: "binary", maxLength: 30 })
    .map((text) => encodeURIComponent(text.toWellFormed())),
  fc.base64String({ maxLength: 60 }).map(encodeURIComponent),
  fc.integer({ min: 150, max: 3000 }).map((length) => "x".repeat(length)),
  fc.json().map((json) => encodeURIComponent(Buffer.from(json).toString("base64url"))),
);
const queryName = fc.constantFrom(...parameterNames(), "__proto__", "x");

/** Names of all parameters in a query, as the OpenAPI document has them. */
function parameterNames(): Set<string> {
  const names = new Set<string>();
  JSON.stringify(OPENAPI.paths, (_, value: { in?: string; name?: string } | null) => {
    if (value?.in === "query") names.add(value.name ?? "");
    return value;
  });
  return names;
}

const query = fc
  .array(fc.tuple(queryName, queryValue), { maxLength: 3 })
  .map((all) => (all.length === 0 ? "" : `?${all.map((pair) => pair.join("=")).join("&")}`));

/** A parameter in a path: right for some, and wrong for others. */
const parameter = fc.oneof(
  { weight: 3, arbitrary: fc.constant(ID) },
  fc.constantFrom("x", "..", "%2e%2e", "%ff", "%00", "__proto__", ID.toUpperCase(), "%", "a%2fb"),
  fc.integer({ min: 100, max: 3000 }).map((length) => "x".repeat(length)),
);

/** Headers that some route reads, besides what says who asks. */
const header = fc.tuple(
  fc.constantFrom("if-none-match", "content-encoding", "content-length", "x-request-id", "range"),
  fc.oneof(
    fc.constantFrom("", "gzip", "0", "-1", "1e9", "*", '"', 'W/"a", "b"', "bytes=0-"),
    fc.base64String({ maxLength: 60 }).map((tag) => `"${tag}"`),
    fc.integer({ min: 100, max: 3000 }).map((length) => "x".repeat(length)),
  ),
);

const path = fc
  .tuple(fc.constantFrom(...Object.keys(OPENAPI.paths ?? {})), fc.infiniteStream(parameter))
  .map(([template, values]) => template.replaceAll(/\{\w+\}/g, () => values.next().value ?? ""));

/** Requests to every route that the OpenAPI document describes. */
export const anyRequest = fc.record({
  method: fc.constantFrom("GET", "GET", "HEAD", "POST", "POST", "PUT", "DELETE", "OPTIONS"),
  path,
  query,
  body,
  contentType: fc.constantFrom("application/json", "text/plain", "application/grpc", ""),
  headers: fc.array(header, { maxLength: 2 }),
});

export type AnyRequest = typeof anyRequest extends fc.Arbitrary<infer A> ? A : never;

/** A request as `fetch` takes it: that of an operator, unless another is said. */
export function initOf(
  { method, body: sent, contentType, headers: others }: AnyRequest,
  authorization = `Bearer ${OPERATOR_TOKEN}`,
): RequestInit {
  const headers = [...others, ["content-type", contentType], ["authorization", authorization]];
  return method === "GET" || method === "HEAD"
    ? { method, headers }
    : { method, headers, body: sent };
}
