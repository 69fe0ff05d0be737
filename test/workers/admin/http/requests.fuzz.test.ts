import fc from "fast-check";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { OPERATOR_TOKEN } from "../../../builders/admin-tokens.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { fuzzed, UNHURRIED } from "../../../builders/fuzzed.ts";
import { mutatedBytes } from "../../../builders/mutations.ts";
import { checkedFetch } from "../../checked-fetch.ts";

const ID = "019aa4a0-0000-7000-8000-000000000000";
const world = new AdminWorld();
const described = await world.document();

/** Fields of bodies and of answers, as the OpenAPI document names them, and some of any object. */
const fieldName = fc.constantFrom(
  ...propertyNames(described),
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
const queryName = fc.constantFrom(
  "limit",
  "cursor",
  "state",
  "outcome",
  "trigger",
  "since",
  "until",
  "from",
  "to",
  "worst",
  "rule",
  "changed",
  "__proto__",
  "x",
);
const query = fc
  .array(fc.tuple(queryName, queryValue), { maxLength: 3 })
  .map((all) => (all.length === 0 ? "" : `?${all.map((pair) => pair.join("=")).join("&")}`));

/** A parameter in a path: right for some, and wrong for others. */
const parameter = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constant(ID),
  },
  fc.constantFrom("x", "..", "%2e%2e", "%ff", "%00", "__proto__", ID.toUpperCase(), "%", "a%2fb"),
  fc.integer({ min: 100, max: 3000 }).map((length) => "x".repeat(length)),
);
const path = fc
  .tuple(fc.constantFrom(...Object.keys(described.paths ?? {})), fc.infiniteStream(parameter))
  .map(([template, values]) => template.replaceAll(/\{\w+\}/g, () => values.next().value ?? ""));

/** Headers that some route reads, besides what says who asks. */
const header = fc.tuple(
  fc.constantFrom("if-none-match", "content-encoding", "content-length", "x-request-id", "range"),
  fc.oneof(
    fc.constantFrom("", "gzip", "0", "-1", "1e9", "*", '"', 'W/"a", "b"', "bytes=0-"),
    fc.base64String({ maxLength: 60 }).map((tag) => `"${tag}"`),
    fc.integer({ min: 100, max: 3000 }).map((length) => "x".repeat(length)),
  ),
);

const asked = fc.record({
  method: fc.constantFrom("GET", "GET", "HEAD", "POST", "POST", "PUT", "DELETE", "OPTIONS"),
  path,
  query,
  body,
  contentType: fc.constantFrom("application/json", "text/plain", "application/grpc", ""),
  headers: fc.array(header, { maxLength: 2 }),
});
type Asked = typeof asked extends fc.Arbitrary<infer A> ? A : never;

function init(
  { method, body: sent, contentType, headers: others }: Asked,
  authorization = `Bearer ${OPERATOR_TOKEN}`,
): RequestInit {
  const headers = [...others, ["content-type", contentType], ["authorization", authorization]];
  return method === "GET" || method === "HEAD"
    ? { method, headers }
    : { method, headers, body: sent };
}

// Each request is logged, which nobody wants to read.
beforeEach(() => void vi.spyOn(console, "log").mockImplementation(() => undefined));

describe("whatever an operator sends", UNHURRIED, () => {
  it("is answered as the OpenAPI document says, and never by a bug", async () => {
    await fc.assert(
      fc.asyncProperty(asked, async (request) => {
        const answer = await world.send(request.path + request.query, init(request));
        expect(answer.status).not.toBe(500);
      }),
      fuzzed(300),
    );
    expect(({} as { readonly force?: unknown }).force).toBeUndefined();
  });

  it("is so with the real stores behind it too, for what only reads", async () => {
    await fc.assert(
      fc.asyncProperty(asked, async (sent) => {
        const request: Asked = { ...sent, method: sent.method === "HEAD" ? "HEAD" : "GET" };
        // Outside of /admin, gRPC is for the other room.
        fc.pre(request.contentType !== "application/grpc");
        const answer = await checkedFetch(`${request.path}${request.query}`, init(request));
        expect(answer.status).not.toBe(500);
      }),
      fuzzed(100),
    );
  });
});

/** What is no token of this installation, in whatever form. */
const credential = fc.oneof(
  fc.constantFrom("", "Bearer", "Bearer ", "Basic b3BzOm9wcw==", "bearer null"),
  fc.base64String({ maxLength: 4000 }).map((text) => `Bearer ${text}`),
  fc.constant(`Bearer ${OPERATOR_TOKEN}x`),
  fc.constant(`Bearer ${OPERATOR_TOKEN} ${OPERATOR_TOKEN}`),
);

describe("whoever has no token", UNHURRIED, () => {
  it("gets nothing done, whatever it sends", async () => {
    await fc.assert(
      fc.asyncProperty(asked, credential, async (request, authorization) => {
        fc.pre(request.path.startsWith("/admin/") && request.method !== "OPTIONS");
        const before = world.enqueued.length + world.removed.length;
        const answer = await world.send(request.path + request.query, init(request, authorization));
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.status).toBeLessThan(500);
        expect(world.enqueued.length + world.removed.length).toBe(before);
      }),
      fuzzed(200),
    );
  });
});
