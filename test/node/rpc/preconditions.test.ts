import { describe, expect, it } from "vitest";
import { checkPreconditions, readConditions } from "../../../src/rpc/preconditions.ts";

const ETAG = '"abc"';
const BEFORE = "Sun, 01 Nov 2026 12:34:55 GMT";
const AT = "Sun, 01 Nov 2026 12:34:56 GMT";
const AFTER = "Sun, 01 Nov 2026 12:34:57 GMT";

const check = (headers: Record<string, string>) =>
  checkPreconditions(readConditions(new Headers(headers)), {
    etag: ETAG,
    modifiedAt: "2026-11-01T12:34:56.789Z",
  }) ?? "none";

describe("checkPreconditions", () => {
  it.each([
    ["none", {}],
    ["none", { "if-match": ETAG }],
    ["none", { "if-match": "*" }],
    ["none", { "if-match": `"x", ${ETAG}` }],
    ["precondition_failed", { "if-match": '"x"' }],
    ["precondition_failed", { "if-match": `W/${ETAG}` }],
    ["none", { "if-unmodified-since": AT }],
    ["precondition_failed", { "if-unmodified-since": BEFORE }],
    ["none", { "if-unmodified-since": "soon" }],
    ["not_modified", { "if-none-match": ETAG }],
    ["not_modified", { "if-none-match": `W/${ETAG}` }],
    ["none", { "if-none-match": '"x"' }],
    ["none", { "if-none-match": '"a,"abc",b"' }],
    ["not_modified", { "if-none-match": `"a,*,b", ${ETAG}` }],
    ["none", { "if-none-match": '"a,*,b"' }],
    ["none", { "if-none-match": "abc" }],
    ["not_modified", { "if-none-match": `, "x" ,${" ".repeat(50_000)}W/${ETAG} ,` }],
    ["none", { "if-none-match": `"x"${" ".repeat(50_000)}x, ${ETAG}` }],
    ["none", { "if-none-match": '"abc' }],
    ["none", { "if-none-match": 'w/"abc"' }],
    ["none", { "if-none-match": '"xabc"' }],
    ["none", { "if-none-match": '"*"' }],
    ["none", { "if-none-match": `${ETAG} "y"` }],
    ["not_modified", { "if-none-match": "*" }],
    ["not_modified", { "if-none-match": `"a",W/${ETAG} , "b"` }],
    ["not_modified", { "if-modified-since": AT }],
    ["not_modified", { "if-modified-since": AFTER }],
    ["not_modified", { "if-modified-since": "Sunday, 01-Nov-26 12:34:57 GMT" }],
    ["not_modified", { "if-modified-since": "Sun Nov  1 12:34:57 2026" }],
    ["none", { "if-modified-since": BEFORE }],
    ["none", { "if-modified-since": "2026-11-02" }],
  ])("returns %s for case %#", (outcome, headers) => {
    expect(check(headers)).toBe(outcome);
  });

  it.each([
    [
      "If-Match before If-Unmodified-Since",
      { "if-match": ETAG, "if-unmodified-since": BEFORE },
      "none",
    ],
    [
      "If-Match before If-None-Match",
      { "if-match": '"x"', "if-none-match": ETAG },
      "precondition_failed",
    ],
    [
      "If-None-Match after one that holds",
      { "if-match": ETAG, "if-none-match": ETAG },
      "not_modified",
    ],
    [
      "If-None-Match before If-Modified-Since",
      { "if-none-match": '"x"', "if-modified-since": AT },
      "none",
    ],
  ])("evaluates %s", (_, headers, outcome) => {
    expect(check(headers)).toBe(outcome);
  });
});
