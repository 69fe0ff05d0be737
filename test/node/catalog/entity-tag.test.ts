import { describe, expect, it } from "vitest";
import { entityTag, matchesEntityTag } from "../../../src/catalog/entity-tag.ts";

describe("entityTag", () => {
  it("returns the first half of the body's hash as a strong tag", () => {
    const sha256 = "0123456789abcdef".repeat(4);
    expect(entityTag({ sha256 })).toBe('"0123456789abcdef0123456789abcdef"');
  });
});

describe("matchesEntityTag", () => {
  it.each(['"x"', 'W/"x"', '"a", "x"', '"a",W/"x" , "b"', "*", ' "x" '])(
    "finds the entity tag in %j",
    (value) => {
      expect(matchesEntityTag(value, '"x"')).toBe(true);
    },
  );

  it.each(['"y"', "x", "", 'w/"x"', '"x', '"xx"', 'W/"y", "z"', '"*"', '"a,*,b"', '"x" "y"'])(
    "does not find the entity tag in %j",
    (value) => {
      expect(matchesEntityTag(value, '"x"')).toBe(false);
    },
  );
});
