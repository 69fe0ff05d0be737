import { describe, expect, it } from "vitest";
import {
  createFetchPolicy,
  describeUrl,
  parseSourceUrl,
} from "../../../src/sources/fetch-policy.ts";

describe("a fetch policy", () => {
  const policy = createFetchPolicy(
    [new URL("https://data.example/a.csv"), new URL("http://127.0.0.1:8080/r.csv")],
    ["CDN.example", "mirror.example:8443"],
  );

  it.each([
    "https://data.example/anything?x=1",
    "https://data.example:443/a.csv",
    "http://127.0.0.1:8080/other.csv",
    "https://cdn.example/a.csv",
    "https://mirror.example:8443/a.csv",
  ])("lets requests go to %s", (url) => {
    expect(policy(new URL(url))).toBeNull();
  });

  it.each([
    ["https://other.example/", "is not on an allowed host"],
    ["https://sub.data.example/", "is not on an allowed host"],
    ["https://data.example.evil.example/", "is not on an allowed host"],
    ["https://data.example:8443/", "is not on an allowed host"],
    ["https://mirror.example/", "is not on an allowed host"],
    ["http://127.0.0.1/", "is not on an allowed host"],
    ["http://127.0.0.1:9090/", "is not on an allowed host"],
    ["ftp://data.example/", "is neither http nor https"],
    ["https://u@data.example/", "has a user name or password"],
    ["https://:p@data.example/", "has a user name or password"],
  ])("refuses %s: it %s", (url, problem) => {
    expect(policy(new URL(url))).toBe(problem);
  });
});

describe("parseSourceUrl", () => {
  it("reads a URL with its query", () => {
    const url = "https://data.example/a.csv?key=1";
    expect(parseSourceUrl(url)).toEqual({ ok: true, url: new URL(url) });
  });

  it.each([
    ["", "is not a URL"],
    ["/a.csv", "is not a URL"],
    ["data.example/a.csv", "is not a URL"],
    ["file:///a.csv", "is neither http nor https"],
    ["https://me:pw@data.example/a.csv", "has a user name or password"],
  ])("refuses %j: it %s", (text, problem) => {
    expect(parseSourceUrl(text)).toEqual({ ok: false, problem });
  });
});

describe("describeUrl", () => {
  it.each([
    ["https://u:p@data.example:8443/a/b.csv?key=1#x", "data.example:8443/a/b.csv"],
    ["data:text/csv,secret", "data:"],
  ])("names %s as %s", (url, described) => {
    expect(describeUrl(new URL(url))).toBe(described);
  });

  it("cuts a path that goes on and on", () => {
    expect(describeUrl(new URL(`https://data.example/${"x".repeat(5000)}`))).toHaveLength(200);
  });
});
