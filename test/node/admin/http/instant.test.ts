import { describe, expect, it } from "vitest";
import { instant } from "../../../../src/admin/http/instant.ts";
import { timestamp } from "../../../../src/catalog/fields.ts";

describe("a time that a request gives", () => {
  it.each([
    "2026-11-21T06:00:00Z",
    "2026-11-21T06:00:00.123+05:30",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
  ])("is taken, and can be answered: %s", (text) => {
    expect(instant().safeParse(text).success).toBe(true);
    expect(timestamp.safeParse(new Date(text).toISOString()).success).toBe(true);
  });

  it.each([
    ["of the year 10000 in UTC", "9999-12-31T23:59:59-23:59"],
    ["before the year 0000 in UTC", "0000-01-01T00:00:00+23:59"],
    ["without an offset", "2026-11-21T06:00:00"],
    ["that is none", "tomorrow"],
  ])("is refused %s, for one reason", (_, text) => {
    expect(instant().safeParse(text).error?.issues).toHaveLength(1);
  });
});
