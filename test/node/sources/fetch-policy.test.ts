import { describe, expect, it } from "vitest";
import {
  createFetchPolicy,
  describeUrl,
  parseSourceUrl,
} from "../../../src/sources/fetch-policy.ts";
import { isPrivateHost } from "../../../src/sources/private-host.ts";

describe("a fetch policy", () => {
  const policy = createFetchPolicy(
    [new URL("https://data.example/a.csv"), new URL("http://127.0.0.1:8080/r.csv")],
    ["CDN.example", "mirror.example:8443", "10.0.0.1"],
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
    ["http://127.0.0.1/", "is in a private network"],
    ["http://127.0.0.1:9090/", "is in a private network"],
    ["http://10.0.0.1/", "is in a private network"],
    ["ftp://data.example/", "is neither http nor https"],
    ["https://u@data.example/", "has a user name or password"],
    ["https://:p@data.example/", "has a user name or password"],
  ])("refuses %s: it %s", (url, problem) => {
    expect(policy(new URL(url))).toBe(problem);
  });
});

const PRIVATE_HOSTS = [
  "127.0.0.1 127.255.255.254 0.0.0.0 10.1.2.3 100.64.0.1 100.127.255.255",
  "169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8 192.168.0.1",
  "198.18.0.1 198.19.255.255 224.0.0.1 255.255.255.255",
  "2130706433 0x7f.1 0177.0.0.1 127.1 127.0.0.1.",
  "[::1] [::] [fc00::1] [fd12::1] [fe80::1] [ff02::1]",
  "[::ffff:8.8.8.8] [64:ff9b::a00:1] [2002:7f00:1::] [2001::1] [2001:0:1::]",
  "localhost LOCALHOST localhost. a.localhost printer.local db.internal",
  "box.home.arpa intranet",
].flatMap((line) => line.split(" "));

const PUBLIC_HOSTS = [
  "davidmegginson.github.io example.org. internal.example localhost.example",
  "1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.0.0.1",
  "128.0.0.1 169.253.0.1 172.15.0.1 172.32.0.1 192.0.1.1 192.167.0.1",
  "198.17.0.1 198.20.0.1 223.255.255.255",
  "[2606:4700::1111] [2001:4860:4860::8888] [3fff::1]",
].flatMap((line) => line.split(" "));

describe("isPrivateHost", () => {
  it.each(PRIVATE_HOSTS)("is true of %s", (host) => {
    expect(isPrivateHost(new URL(`http://${host}/`).hostname)).toBe(true);
  });

  it.each(PUBLIC_HOSTS)("is false of %s", (host) => {
    expect(isPrivateHost(new URL(`http://${host}/`).hostname)).toBe(false);
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
