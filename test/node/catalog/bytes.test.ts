import { describe, expect, it } from "vitest";
import { letGo } from "../../../src/catalog/bytes.ts";

describe("letGo", () => {
  it("empties bytes that are all of their buffer", () => {
    const bytes = Uint8Array.of(1, 2, 3);
    letGo(bytes);
    expect(bytes.length).toBe(0);
  });

  it("leaves alone what is a part of a larger buffer", () => {
    const whole = Uint8Array.of(1, 2, 3);
    letGo(whole.subarray(1));
    expect(whole).toEqual(Uint8Array.of(1, 2, 3));
  });
});
