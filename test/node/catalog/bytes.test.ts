import { describe, expect, it } from "vitest";
import { releaseBuffer } from "../../../src/catalog/bytes.ts";

describe("releaseBuffer", () => {
  it("frees bytes that fill their buffer", () => {
    const bytes = Uint8Array.of(1, 2, 3);
    releaseBuffer(bytes);
    expect(bytes.length).toBe(0);
  });

  it("does not touch a part of a larger buffer", () => {
    const whole = Uint8Array.of(1, 2, 3);
    releaseBuffer(whole.subarray(1));
    expect(whole).toEqual(Uint8Array.of(1, 2, 3));
  });
});
