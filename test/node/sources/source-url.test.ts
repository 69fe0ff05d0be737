import { describe, expect, it } from "vitest";
import { parseSourceUrl } from "../../../src/sources/http-upstream.ts";

describe("parseSourceUrl", () => {
  it.each(["https://data.example/a.csv?key=1", "http://127.0.0.1:8080/a.csv"])(
    "parses %s",
    (url) => {
      expect(parseSourceUrl(url)).toEqual({ ok: true, url: new URL(url) });
    },
  );

  it.each([
    ["", "is not a URL"],
    ["/a.csv", "is not a URL"],
    ["data.example/a.csv", "is not a URL"],
    ["file:///a.csv", "is neither http nor https"],
    ["ftp://data.example/a.csv", "is neither http nor https"],
    ["https://me:pw@data.example/a.csv", "has a user name or password"],
    ["https://me@data.example/a.csv", "has a user name or password"],
    ["https://:pw@data.example/a.csv", "has a user name or password"],
  ])("refuses %j because it %s", (text, problem) => {
    expect(parseSourceUrl(text)).toEqual({ ok: false, problem });
  });
});
