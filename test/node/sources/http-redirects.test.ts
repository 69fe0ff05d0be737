import { beforeEach, describe, expect, it } from "vitest";
import { file, redirect, UpstreamServer } from "../../builders/upstream-server.ts";
import {
  AIRPORTS_CSV,
  AIRPORTS_PATH,
  responseFrom,
  textOf,
  UpstreamWorld,
} from "../../builders/upstream-world.ts";
import { useUpstreamServer } from "../../builders/use-upstream-server.ts";

const server = useUpstreamServer();
let world: UpstreamWorld;

beforeEach(() => void (world = new UpstreamWorld(server)));

const GOOD = file(AIRPORTS_CSV);

/** Lets redirects of https://data.example/a.csv end at a URL, with a response. */
function endAt(url: string, init?: ResponseInit): void {
  world.options = {
    urls: {
      "airports.csv": "https://data.example/a.csv",
      "regions.csv": "https://data.example/r.csv",
    },
    allowedHosts: ["CDN.example", "mirror.example:8443"],
    fetch: async (start) => {
      const isRedirected = start.endsWith("/a.csv");
      return isRedirected
        ? responseFrom(url, AIRPORTS_CSV, init)
        : responseFrom(start, "code,name\n");
    },
  };
}

describe("a redirect", () => {
  it("may end at the host of the other file", async () => {
    const other = await UpstreamServer.start();
    other.on("/r.csv", file("code,name\n"));
    other.on("/a.csv", GOOD);
    server.on(AIRPORTS_PATH, redirect(other.url("/a.csv")));
    const urls = { "airports.csv": server.url(AIRPORTS_PATH), "regions.csv": other.url("/r.csv") };
    world.options = { urls };
    expect(textOf(await world.fetch(), 0)).toBe(AIRPORTS_CSV);
    await other.stop();
  });

  it("may end at another port only if that is an allowed host", async () => {
    const other = await UpstreamServer.start();
    other.on("/a.csv", GOOD);
    server.on(AIRPORTS_PATH, redirect(other.url("/a.csv")));
    expect(await world.failure()).toEqual({
      fault: "redirect_refused",
      isTransient: false,
      message: `${server.host}${AIRPORTS_PATH} redirects to ${other.host}/a.csv, which is not on an allowed host; check the URL and the allowed hosts`,
    });
    world.options = { allowedHosts: [other.host] };
    expect(textOf(await world.fetch(), 0)).toBe(AIRPORTS_CSV);
    await other.stop();
  });

  it.each([
    "https://data.example/anything?x=1",
    "https://cdn.example/a.csv",
    "https://mirror.example:8443/a.csv",
  ])("may end at %s, which is on a configured or an allowed host", async (url) => {
    endAt(url);
    expect(textOf(await world.fetch(), 0)).toBe(AIRPORTS_CSV);
  });

  it.each([
    ["https://evil.example/a.csv?hidden", "evil.example/a.csv, which is not on an allowed host"],
    ["https://sub.data.example/", "sub.data.example/, which is not on an allowed host"],
    ["https://data.example:8443/", "data.example:8443/, which is not on an allowed host"],
    ["https://mirror.example/", "mirror.example/, which is not on an allowed host"],
    ["http://169.254.169.254/meta", "169.254.169.254/meta, which is not on an allowed host"],
    ["http://cdn.example/a.csv", "cdn.example/a.csv, which leaves https"],
    ["https://u:hidden@cdn.example/", "a URL that has a user name or password"],
    ["file:///etc/passwd", "a URL that is neither http nor https"],
    ["", "a URL that is not a URL"],
  ])("may not end at %j", async (url, what) => {
    endAt(url);
    const { fault, isTransient, message } = await world.failure();
    expect({ fault, isTransient }).toEqual({ fault: "redirect_refused", isTransient: false });
    expect(message).toContain(`data.example/a.csv redirects to `);
    expect(message).toContain(`${what}; check the URL and the allowed hosts`);
    expect(message).not.toContain("hidden");
  });

  it.each([304, 404, 503])(
    "fails the fetch if it has led to a foreign host, before its status %i counts",
    async (status) => {
      world.options = {
        fetch: async () => responseFrom("https://evil.example/a.csv", null, { status }),
      };
      expect(await world.failure()).toMatchObject({ fault: "redirect_refused" });
    },
  );

  it.each([
    ["redirects without end", redirect(AIRPORTS_PATH), "unreachable"],
    ["redirects to a file", redirect("file:///etc/passwd"), "unreachable"],
    ["redirects without a location", redirect(undefined), "http_refused"],
  ])("fails the fetch when upstream %s", async (_, behavior, fault) => {
    server.on(AIRPORTS_PATH, behavior);
    expect(await world.failure()).toMatchObject({ fault });
  });
});
