import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { brokenRules } from "./answer-rules.ts";
import { aHandler, bytesOf, PATH } from "./requests.ts";

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array<ArrayBuffer>;
}

const CONTENT_TYPES = [
  "application/proto",
  "application/json",
  "application/json; charset=utf-8",
  "application/grpc-web",
  "application/grpc-web+proto",
  "application/grpc-web+json",
  "application/grpc-web-text",
  "application/grpc-web-text+proto",
  "application/grpc-web-text+json",
  "application/grpc",
  "application/connect+proto",
  "text/plain",
];

const latin1 = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(text, "latin1"));
const hex = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text, "hex"));

function bodies(): fc.Arbitrary<Uint8Array<ArrayBuffer>> {
  const known = [
    hex(""),
    hex("0a02656e"),
    hex("0a056e622d4e4f"),
    hex("0a0178"),
    latin1('{"locale":"de"}'),
    latin1('{"locale":1}'),
    hex("00000000040a02656e"),
    hex("00000000040a02656e8000000000"),
    hex("000000000f7b226c6f63616c65223a22656e227d"),
    hex("00ffffffff"),
    latin1("AAAAAAQKAmVu"),
    latin1("AAAAAAA="),
  ];
  const random = fc.uint8Array({ maxLength: 40 }).map((bytes) => new Uint8Array(bytes));
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...known) },
    { weight: 1, arbitrary: random },
  );
}

function headers(): fc.Arbitrary<Record<string, string>> {
  const optional = (...values: string[]): fc.Arbitrary<string | undefined> =>
    fc.option(fc.constantFrom(...values), { nil: undefined, freq: 2 });
  return fc
    .record({
      "content-type": optional(...CONTENT_TYPES),
      "accept-encoding": optional("br", "gzip, br", "identity", "*;q=0"),
      "if-none-match": optional("*", '"x"'),
      "connect-timeout-ms": optional("5000", "x"),
      "grpc-timeout": optional("5S", "x"),
      "content-encoding": optional("gzip", "identity"),
      "grpc-encoding": optional("gzip", "identity"),
      origin: optional("https://example.com"),
      "access-control-request-method": optional("POST"),
    })
    .map((all) => {
      const present: Record<string, string> = {};
      for (const [name, value] of Object.entries(all))
        if (value !== undefined) present[name] = value;
      return present;
    });
}

function requests(): fc.Arbitrary<Asked> {
  const queries = [
    "",
    "?connect=v1&encoding=proto&base64=1&message=CgJlbg",
    "?connect=v1&encoding=json&message=%7B%22locale%22%3A%22zh-TW%22%7D",
    "?encoding=json&message=",
    "?encoding=proto&base64=1&message=!",
  ];
  const paths = [
    ...queries.map((query) => PATH + query),
    `${PATH}x`,
    "/locations.v1.LocationsService/",
  ];
  return fc.record({
    method: fc.constantFrom("GET", "GET", "HEAD", "POST", "POST", "POST", "PUT", "OPTIONS"),
    path: fc.constantFrom(...paths),
    headers: headers(),
    body: bodies(),
  });
}

function build({ method, path, headers: sent, body }: Asked): Request {
  const hasBody = method !== "GET" && method !== "HEAD";
  const length = hasBody ? { "content-length": String(body.byteLength) } : {};
  return new Request(`http://localhost${path}`, {
    method,
    headers: { ...sent, ...length },
    body: hasBody ? body : null,
  });
}

describe("every answer", () => {
  const store = fc.constantFrom("fine", "fine", "fine", "unavailable", "data_loss", "throws");

  it("is well-formed in its protocol, readable by any origin, and no empty catalog", async () => {
    const { reader, handler } = aHandler();
    const locales = Object.keys(reader.manifest.locales);
    await fc.assert(
      fc.asyncProperty(requests(), store, async (asked, state) => {
        reader.openResult =
          state === "unavailable" || state === "data_loss"
            ? { ok: false, reason: state }
            : undefined;
        reader.openThrows = state === "throws" ? new Error("bug") : undefined;
        const response = await handler(build(asked));
        const answer = { response, body: await bytesOf(response) };
        expect(brokenRules({ ...asked, locales }, answer)).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ["", false],
    [" out of memory", true],
  ])("is the same for a request like one before%s", async (_, holds) => {
    const { reader, handler } = aHandler();
    reader.holds = holds;
    await fc.assert(
      fc.asyncProperty(requests(), async (asked) => {
        const { handler: fresh } = aHandler();
        const first = await fresh(build(asked));
        await handler(build(asked));
        const again = await handler(build(asked));
        expect(again.status).toBe(first.status);
        expect([...again.headers]).toEqual([...first.headers]);
        expect(await bytesOf(again)).toEqual(await bytesOf(first));
      }),
      { numRuns: 300 },
    );
  });
});
