import fc from "fast-check";
import { v4, v7 } from "uuid";
import { describe, expect, it } from "vitest";
import { decodeCursor, encodeCursor } from "../../../src/storage/page.ts";

const BAD = { ok: false, reason: "bad_cursor" };
const id = "019aa3c0-0000-7000-8000-000000000001";

describe("a cursor", () => {
  it("decodes to the id that it encodes", () => {
    const made = v7();
    expect(decodeCursor(encodeCursor(made))).toEqual({ ok: true, id: made });
  });

  it.each([
    { what: "nothing", cursor: "" },
    { what: "an id", cursor: id },
    { what: "a UUID of another version", cursor: encodeCursor(v4()) },
    { what: "an id in capitals, which sorts elsewhere", cursor: encodeCursor(id.toUpperCase()) },
    { what: "an id without hyphens", cursor: encodeCursor(id.replaceAll("-", "")) },
    { what: "the nil UUID", cursor: encodeCursor("00000000-0000-0000-0000-000000000000") },
    { what: "SQL of the right length", cursor: encodeCursor("' OR 1=1 --".padEnd(36)) },
    { what: "a cursor with padding", cursor: `${encodeCursor(id)}=` },
    { what: "a cursor in white space", cursor: ` ${encodeCursor(id)}` },
    { what: "a cursor and a line break", cursor: `${encodeCursor(id)}\n` },
    { what: "a cursor and a letter, which decodes to the same", cursor: `${encodeCursor(id)}A` },
    { what: "a cursor cut short", cursor: encodeCursor(id).slice(0, -1) },
    { what: "a megabyte", cursor: "A".repeat(1_000_000) },
  ])("fails to decode if it is $what", ({ cursor }) => {
    expect(decodeCursor(cursor)).toEqual(BAD);
  });

  it("has one text for each id, and no text makes it throw", () => {
    const changed = fc
      .tuple(fc.nat({ max: 47 }), fc.string({ unit: "binary", minLength: 1, maxLength: 1 }))
      .map(([at, letter]) => {
        const cursor = encodeCursor(id);
        return cursor.slice(0, at) + letter + cursor.slice(at + 1);
      });
    fc.assert(
      fc.property(fc.oneof(changed, fc.string({ unit: "binary", maxLength: 60 })), (text) => {
        const decoded = decodeCursor(text);
        expect(decoded.ok ? encodeCursor(decoded.id) : decoded).toEqual(decoded.ok ? text : BAD);
      }),
    );
  });
});
