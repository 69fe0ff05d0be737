import { describe, expect, it } from "vitest";
import { badRequest, retryInfo } from "../../../src/rpc/errors.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

// Field numbers: https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto
describe("error details", () => {
  it("encode google.rpc.BadRequest", () => {
    const detail = badRequest("locale", "bad");
    expect(detail).toMatchObject({
      type: "google.rpc.BadRequest",
      debug: { fieldViolations: [{ field: "locale", description: "bad" }] },
    });
    expect(hex(detail.value)).toBe("0a0d0a066c6f63616c651203626164");
  });

  it("encode google.rpc.RetryInfo", () => {
    const detail = retryInfo(5);
    expect(detail).toMatchObject({ type: "google.rpc.RetryInfo", debug: { retryDelay: "5s" } });
    expect(hex(detail.value)).toBe("0a020805");
  });
});
