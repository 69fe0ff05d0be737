import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  DEFAULT_CALL,
  ENCODINGS,
  formatPermalink,
  NOWHERE,
  parsePermalink,
  type Permalink,
  PROTOCOLS,
} from "../explorer/permalink.ts";

const text = fc.string({ minLength: 1, unit: "grapheme" });
const selection = fc.oneof(
  fc.constant(null),
  fc.record({ kind: fc.constant("airport" as const), key: fc.stringMatching(/^[A-Z]{3}$/) }),
  fc.record({
    kind: fc.constant("city" as const),
    key: fc.stringMatching(/^[a-z-]{1,9}-\d{1,9}$/),
  }),
  fc.record({ kind: fc.constant("country" as const), key: fc.stringMatching(/^[A-Z]{2}$/) }),
  fc.record({ kind: fc.constant("region" as const), key: text }),
);
const degrees = (max: number) =>
  fc.integer({ min: -max * 1000, max: max * 1000 }).map((thousandths) => thousandths / 1000);
const position = { lat: degrees(90), lon: degrees(180) };
const near = fc.option(fc.record(position));
const view = fc.option(fc.record({ ...position, zoom: degrees(9) }));
const call = fc.record({
  protocol: fc.constantFrom(...PROTOCOLS),
  encoding: fc.constantFrom(...ENCODINGS),
  locale: fc.oneof(fc.constant(""), text),
});

describe("a link to the explorer", () => {
  it("contains everything that it was made from", () => {
    fc.assert(
      fc.property(fc.record({ call, selection, near, view, changes: fc.boolean() }), (made) => {
        // A link names a place, a spot or the changes.
        const place: Permalink = { ...made, near: null, changes: false };
        const spot: Permalink = { ...made, selection: null, changes: false };
        const changes: Permalink = { ...made, selection: null, near: null };
        const link =
          [place, spot, changes].find(({ selection: to, near: at }) => to ?? at) ?? changes;
        expect(parsePermalink(formatPermalink(link))).toEqual(link);
      }),
    );
  });

  it("omits the defaults", () => {
    expect(formatPermalink({ ...NOWHERE, call: DEFAULT_CALL })).toBe("");
  });

  it("works in either case, without the parts that are unknown", () => {
    const link = parsePermalink("?airport=zrh&protocol=smoke-signals&utm_source=x");
    const zurich = { kind: "airport", key: "ZRH" };
    expect(link).toEqual({ ...NOWHERE, call: DEFAULT_CALL, selection: zurich });
  });

  it.each(["?near=91,0", "?near=1", "?near=a,b", "?view=47,8", "?view=47,8,x", "?view=0,181,3"])(
    "ignores a malformed position: %s",
    (query) => expect(parsePermalink(query)).toEqual({ ...NOWHERE, call: DEFAULT_CALL }),
  );

  it("shows a position as people write it", () => {
    const link = { ...NOWHERE, call: DEFAULT_CALL, near: { lat: 47.05, lon: 8.31 } };
    expect(formatPermalink(link)).toBe("?near=47.05,8.31");
  });
});
