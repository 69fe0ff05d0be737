/**
 * Cursors of keyset pagination over rows whose ids are UUIDv7. To callers a cursor is opaque; it
 * holds the id of the last row of a page.
 */
import { Buffer } from "node:buffer";

export type DecodedCursor =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly reason: "bad_cursor" };

/** 36 characters are 48 of base64, without padding: no two texts decode to one id. */
const CURSOR = /^[A-Za-z0-9_-]{48}$/;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function encodeCursor(id: string): string {
  return Buffer.from(id).toString("base64url");
}

/** Accepts what `encodeCursor` gives and nothing else. */
export function decodeCursor(cursor: string): DecodedCursor {
  const id = CURSOR.test(cursor) ? Buffer.from(cursor, "base64url").toString("latin1") : "";
  return UUID_V7.test(id) ? { ok: true, id } : { ok: false, reason: "bad_cursor" };
}
