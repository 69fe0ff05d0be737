import { randomBytes } from "node:crypto";
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseJson } from "../src/platform/parse-json.ts";
import { onlyToken } from "./new-admin-token.ts";

/** An admin token that only this machine's local service knows. */
interface LocalAdminToken {
  readonly text: string;
  readonly file: string;
  readonly isNew: boolean;
  /** Value of the secret ADMIN_TOKENS. */
  readonly secret: string;
}

const TOKEN_FILE = ".wrangler/local-admin-token";

/** The token of this clone, made at the first call and readable only by its owner. */
export function localAdminToken(file = TOKEN_FILE): LocalAdminToken {
  const isNew = !existsSync(file) && makeToken(file);
  const text = readFileSync(file, "utf8").trim();
  return { text, file, isNew, secret: onlyToken("local", text) };
}

/** Joins values of the secret ADMIN_TOKENS, which are JSON lists. */
export function joinTokens(...secrets: readonly string[]): string {
  return JSON.stringify(secrets.flatMap((secret) => parseJson(secret)));
}

/** Makes the token, unless another process does so first: returns false then. */
function makeToken(file: string): boolean {
  mkdirSync(dirname(file), { recursive: true });
  const own = `${file}.${process.pid}`;
  writeFileSync(own, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600 });
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (existsSync(file)) return false;
    throw error;
  } finally {
    rmSync(own);
  }
}
