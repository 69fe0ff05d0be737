/** Admin tokens of the Worker under test. */
import { createHash } from "node:crypto";

export const OPERATOR_TOKEN = "test-operator-4f1c";
export const READER_TOKEN = "test-reader-93ab";
export const EXPIRED_TOKEN = "test-expired-77d0";

/** The value of the secret ADMIN_TOKENS. */
export function adminTokens(): string {
  return JSON.stringify([
    { id: "operator", sha256: digest(OPERATOR_TOKEN), scopes: ["read", "operate"] },
    { id: "reader", sha256: digest(READER_TOKEN), scopes: ["read"] },
    {
      id: "expired",
      sha256: digest(EXPIRED_TOKEN),
      scopes: ["read", "operate"],
      expires_at: "2026-01-01T00:00:00.000Z",
    },
  ]);
}

export function digest(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
