import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { onlyToken } from "./new-admin-token.ts";

/** An admin token that only this machine's local service knows. */
interface LocalAdminToken {
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
  return { text, file, isNew, secret: onlyToken("local", text) };
}
