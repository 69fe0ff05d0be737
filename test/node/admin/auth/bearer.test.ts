import { createHash } from "node:crypto";
import { afterEach, expect, it, vi } from "vitest";

afterEach(() => {
  vi.doUnmock("node:crypto");
  vi.resetModules();
});

it("a token is compared with every configured one in constant time, even after a match", async () => {
  const compared = vi.fn<(...digests: unknown[]) => void>();
  vi.resetModules();
  vi.doMock("node:crypto", async (original) => {
    const real = await original<typeof import("node:crypto")>();
    const timingSafeEqual: typeof real.timingSafeEqual = (a, b) => {
      compared(a, b);
      return real.timingSafeEqual(a, b);
    };
    return { ...real, timingSafeEqual };
  });
  const { findToken } = await import("../../../../src/admin/auth/gate.ts");
  const tokens = ["first", "second", "third"].map((id) => ({
    id,
    sha256: createHash("sha256").update(`the token ${id}`.replaceAll(" ", "-")).digest("hex"),
    scopes: ["read" as const],
    expiresAt: null,
  }));
  expect(findToken(tokens, "Bearer the-token-first", 0)?.token).toBe(tokens[0]);
  expect(compared).toHaveBeenCalledTimes(3);
  expect(findToken(tokens, "Bearer another", 0)).toBeUndefined();
  expect(compared).toHaveBeenCalledTimes(6);
});
