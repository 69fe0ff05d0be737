import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  DEFAULT_CALL,
  ENCODINGS,
  formatPermalink,
  parsePermalink,
  type Permalink,
  PROTOCOLS,
} from "../../../src/web/explorer/permalink.ts";

const text = fc.string({ minLength: 1, unit: "grapheme" });
const selection = fc.oneof(
  fc.constant(null),
  fc.record({ kind: fc.constant("airport" as const), key: fc.stringMatching(/^[A-Z]{3}$/) }),
  fc.record({ kind: fc.constant("city" as const), key: fc.uuid() }),
  fc.record({ kind: fc.constant("country" as const), key: fc.stringMatching(/^[A-Z]{2}$/) }),
  fc.record({ kind: fc.constant("region" as const), key: text }),
);
const call = fc.record({
  protocol: fc.constantFrom(...PROTOCOLS),
  encoding: fc.constantFrom(...ENCODINGS),
  locale: fc.oneof(fc.constant(""), text),
});

describe("a link to the explorer", () => {
  it("contains everything that it was made from", () => {
    fc.assert(
      fc.property(fc.record({ call, selection }), (link: Permalink) => {
        expect(parsePermalink(formatPermalink(link))).toEqual(link);
      }),
    );
  });

  it("omits the defaults", () => {
    expect(formatPermalink({ call: DEFAULT_CALL, selection: null })).toBe("");
  });

  it("is read in either case, without the parts that are unknown", () => {
    const link = parsePermalink("?airport=zrh&protocol=smoke-signals&utm_source=x");
    expect(link).toEqual({ call: DEFAULT_CALL, selection: { kind: "airport", key: "ZRH" } });
  });
});
