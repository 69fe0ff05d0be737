import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzed, UNHURRIED } from "../../builders/fuzzed.ts";
import { brokenRules } from "./answer-rules.ts";
import {
  type AskedParts,
  connectGets,
  connectPosts,
  grpcWebPosts,
  grpcWebTextPosts,
  requestFrom,
} from "./damaged-requests.ts";
import { essenceOf, expectedEssence, plainRouter } from "./plain-router.ts";
import { aHandler, bytesOf } from "./requests.ts";

const { reader, handler, logged } = aHandler();
const router = plainRouter(reader);
/** A longer body is refused by the length that it announces, whatever is in it. */
const ANNOUNCED_MAX_BYTES = 8192;
const locales = Object.keys(reader.manifest.locales);

/** What strangers send is never a bug of ours, and each answer keeps its protocol's rules. */
async function expectWellFormed(asked: AskedParts): Promise<Response> {
  const response = await handler(requestFrom(asked));
  const body = await bytesOf(response.clone());
  expect(brokenRules({ ...asked, locales }, { response, body })).toEqual([]);
  expect(logged).toEqual([]);
  return response;
}

/** The same answer as of Connect's router, the first time and when it is remembered. */
async function expectAsRouter(asked: AskedParts): Promise<void> {
  const response = await expectWellFormed(asked);
  if (isServedAroundTheRouter(asked, response)) return;
  if (await isRefusedAlone(response)) return;
  const expected = await routersEssence(asked);
  if (expected === undefined) return;
  expect(await essenceOf(response)).toEqual(expected);
  expect(await essenceOf(await handler(requestFrom(asked)))).toEqual(expected);
}

/** Whether it refuses a flag that the router overlooks, or what the router takes for its own bug. */
async function isRefusedAlone(response: Response): Promise<boolean> {
  const body = Buffer.from(await bytesOf(response.clone()));
  return body.includes("unknown%20frame%20flags") || body.includes("message is not base64");
}

/** Of the router's answer; undefined if it cannot say what is wrong in a trailer, and throws. */
async function routersEssence(asked: AskedParts): Promise<unknown> {
  try {
    return await expectedEssence(await router(requestFrom(asked)));
  } catch (cause) {
    if (cause instanceof URIError) return undefined;
    throw cause;
  }
}

/**
 * HEAD, conditional requests and base64 frames, of which the router knows none, and what announces
 * too much to be looked at.
 */
function isServedAroundTheRouter(
  { method, headers, body }: AskedParts,
  { status }: Response,
): boolean {
  const isText = /^application\/grpc-web-text/i.test(headers["content-type"] ?? "");
  return method === "HEAD" || status === 304 || isText || body.length > ANNOUNCED_MAX_BYTES;
}

describe("an arbitrary request", UNHURRIED, () => {
  it.each([
    ["a Connect POST", connectPosts],
    ["a Connect GET", connectGets],
    ["a gRPC-Web POST", grpcWebPosts],
  ])("gets the answer of Connect's router, and never one of a bug: %s", async (_, requests) => {
    await fc.assert(fc.asyncProperty(requests, expectAsRouter), fuzzed(60));
  });

  it("gets a well-formed answer while the catalog cannot be read", async () => {
    const subject = aHandler();
    const requests = fc.oneof(connectPosts, connectGets, grpcWebPosts, grpcWebTextPosts);
    const faults = fc.constantFrom("unavailable" as const, "data_loss" as const, "throws" as const);
    await fc.assert(
      fc.asyncProperty(requests, faults, async (asked, fault) => {
        if (fault === "throws") subject.reader.openThrows = new Error("bug");
        else {
          subject.reader.openThrows = undefined;
          subject.reader.openResult = { ok: false, reason: fault };
        }
        const response = await subject.handler(requestFrom(asked));
        const body = await bytesOf(response);
        expect(brokenRules({ ...asked, locales }, { response, body })).toEqual([]);
      }),
      fuzzed(60),
    );
  });

  it("gets a well-formed answer as base64 frames, and never one of a bug", async () => {
    await fc.assert(
      fc.asyncProperty(grpcWebTextPosts, async (asked) => void (await expectWellFormed(asked))),
      fuzzed(60),
    );
  });

  it("gets as base64 frames the answer of the same frames in binary", async () => {
    await fc.assert(
      fc.asyncProperty(grpcWebPosts, async (asked) => {
        const as = (contentType: string, body: Uint8Array): AskedParts => ({
          ...asked,
          // Which of two errors is reported first depends on how the frames arrive.
          chunkBytes: undefined,
          body: new Uint8Array(body),
          headers: { ...asked.headers, "content-type": contentType },
        });
        const base64 = Buffer.from(Buffer.from(asked.body).toString("base64"));
        const response = await handler(requestFrom(as("application/grpc-web-text", base64)));
        const body = Buffer.from(await bytesOf(response));
        if (base64.length > 4096 || response.headers.has("content-encoding")) return;
        const expected = await handler(requestFrom(as("application/grpc-web", asked.body)));
        expect(body.toString()).toBe(Buffer.from(await bytesOf(expected)).toString("base64"));
        expect(response.status).toBe(expected.status);
      }),
      fuzzed(60),
    );
  });
});
