/**
 * Cursors of keyset pagination. A cursor is opaque to callers; it encodes the id of the last row of a
 * page.
 */
import { Buffer } from "node:buffer";

type DecodedCursor =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly reason: "bad_cursor" };

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function encodeCursor(id: string): string {
  return Buffer.from(id).toString("base64url");
}

/**
 * Accepts only the output of `encodeCursor`, so that each id has exactly one cursor.
 *
 * @param form of the ids.
 */
export function decodeCursor(cursor: string, form: RegExp = UUID_V7): DecodedCursor {
  const id = Buffer.from(cursor, "base64url").toString("latin1");
  const isGood = form.test(id) && encodeCursor(id) === cursor;
  return isGood ? { ok: true, id } : { ok: false, reason: "bad_cursor" };
}
