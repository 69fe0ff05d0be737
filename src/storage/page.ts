/** Pages of lists, and the cursors that lead from one to the next. */
import { Buffer } from "node:buffer";
import { UUID_V7 } from "../schemas/fields.ts";

type DecodedCursor =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly reason: "bad_cursor" };

/** Encodes the id of a page's last row as the cursor of the next page, which is opaque to callers. */
export function encodeCursor(id: string): string {
  return Buffer.from(id).toString("base64url");
}

/** Accepts only the output of `encodeCursor`, so that each id has one cursor. `form` is the form of ids. */
export function decodeCursor(cursor: string, form: RegExp = UUID_V7): DecodedCursor {
  const id = Buffer.from(cursor, "base64url").toString("latin1");
  const isGood = form.test(id) && encodeCursor(id) === cursor;
  return isGood ? { ok: true, id } : { ok: false, reason: "bad_cursor" };
}

export interface PageQuery {
  /** Rows on a page, 1 to `MAX_PAGE_ROWS`. */
  readonly limit: number;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** A page of rows, newest first. `Rows` names the field. */
export type PageOf<Rows> =
  | (Rows & {
      readonly ok: true;
      /** Null on the last page. */
      readonly nextCursor: string | null;
      /** Number of matching rows on all pages. */
      readonly total: number;
    })
  | { readonly ok: false; readonly reason: "bad_cursor" };

export const MAX_PAGE_ROWS = 200;

/** Identity and order of the items. */
interface Order<Item> {
  readonly keyOf: (item: Item) => string;
  readonly descending: boolean;
  /** Form of the keys; UUIDv7 by default. */
  readonly form?: RegExp;
}

/** Takes one page of a list in memory. A page starts after its cursor, even if that item is gone. */
export function pageOf<Item>(
  sorted: readonly Item[],
  { limit, cursor }: PageQuery,
  { keyOf, descending, form }: Order<Item>,
): PageOf<{ readonly items: readonly Item[] }> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor, form);
  if (after?.ok === false) return after;
  const isAfter = (key: string) =>
    after === undefined || (descending ? key < after.id : key > after.id);
  const rest = sorted.filter((item) => isAfter(keyOf(item)));
  const items = rest.slice(0, limit);
  const last = rest.length > limit ? items.at(-1) : undefined;
  const nextCursor = last === undefined ? null : encodeCursor(keyOf(last));
  return { ok: true, items, nextCursor, total: sorted.length };
}
