import crypto from "node:crypto";
import { afterEach, expect, it, vi } from "vitest";
import { findToken } from "../../../../src/admin/auth/authenticate.ts";

afterEach(() => vi.restoreAllMocks());

it("a token is compared with every configured one in constant time, even after a match", () => {
  const compared = vi.spyOn(crypto, "timingSafeEqual");
  const tokens = ["first", "second", "third"].map((id) => ({
    id,
    sha256: crypto
      .createHash("sha256")
      .update(`the token ${id}`.replaceAll(" ", "-"))
      .digest("hex"),
    scopes: ["read" as const],
    expiresAt: null,
  }));
  expect(findToken(tokens, "Bearer the-token-first", 0)).toBe(tokens[0]);
  expect(compared).toHaveBeenCalledTimes(3);
  expect(findToken(tokens, "Bearer another", 0)).toBeUndefined();
  expect(compared).toHaveBeenCalledTimes(6);
});
