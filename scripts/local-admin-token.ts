import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** An admin token that only this machine's local service knows. */
export interface LocalAdminToken {
  readonly text: string;
  readonly file: string;
  /** Whether it was made just now, and is to be shown this once. */
  readonly isNew: boolean;
  /** Value of the secret ADMIN_TOKENS. */
  readonly secret: string;
}

const TOKEN_FILE = ".wrangler/local-admin-token";

/** The token of this clone; made at the first call, readable by its owner only. */
export function localAdminToken(file = TOKEN_FILE): LocalAdminToken {
  const isNew = !existsSync(file);
  if (isNew) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600 });
  }
  const text = readFileSync(file, "utf8").trim();
  const sha256 = createHash("sha256").update(text).digest("hex");
  const secret = JSON.stringify([{ id: "local", sha256, scopes: ["read", "operate"] }]);
  return { text, file, isNew, secret };
}
