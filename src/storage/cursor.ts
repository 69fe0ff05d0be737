/**
 * Cursors of keyset pagination over UUIDv7 ids. A cursor is opaque to callers; it encodes the id of
 * the last row of a page.
 */
import { Buffer } from "node:buffer";

type DecodedCursor =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly reason: "bad_cursor" };

/** 36 characters make 48 of base64 without padding, so each id has exactly one cursor. */
const CURSOR = /^[A-Za-z0-9_-]{48}$/;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function encodeCursor(id: string): string {
  return Buffer.from(id).toString("base64url");
}

/** Accepts only the output of `encodeCursor`. */
export function decodeCursor(cursor: string): DecodedCursor {
  const id = CURSOR.test(cursor) ? Buffer.from(cursor, "base64url").toString("latin1") : "";
  return UUID_V7.test(id) ? { ok: true, id } : { ok: false, reason: "bad_cursor" };
}
