import type { ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { callFailure, malformedLocale } from "../../../src/rpc/errors.ts";

/** The only detail of an error, which must be encoded. */
function detailOf({ details: [detail, ...others] }: ConnectError) {
  if (detail === undefined || !("value" in detail) || others.length > 0)
    throw new Error("not one encoded detail");
  const { value, ...named } = detail;
  return { ...named, hex: Buffer.from(value).toString("hex") };
}

/** A field of fewer than 128 bytes, which are given in hex. */
const field = (tag: string, hex: string): string =>
  `${tag}${(hex.length / 2).toString(16).padStart(2, "0")}${hex}`;

const hexOf = (text: string): string => Buffer.from(text).toString("hex");

// Field numbers: https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto
describe("error details", () => {
  it("encode google.rpc.BadRequest for a malformed locale", () => {
    const error = malformedLocale("too_long");
    const description = error.rawMessage;
    expect(detailOf(error)).toEqual({
      type: "google.rpc.BadRequest",
      debug: { fieldViolations: [{ field: "locale", description }] },
      hex: field("0a", field("0a", hexOf("locale")) + field("12", hexOf(description))),
    });
  });

  it("encode google.rpc.RetryInfo for stores that do not answer", () => {
    const error = callFailure("unavailable");
    expect(error.metadata.get("retry-after")).toBe("5");
    expect(detailOf(error)).toEqual({
      type: "google.rpc.RetryInfo",
      debug: { retryDelay: "5s" },
      hex: "0a020805",
    });
  });
});
