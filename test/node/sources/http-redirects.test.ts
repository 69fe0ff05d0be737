import { beforeEach, describe, expect, it } from "vitest";
import { file, redirect, UpstreamServer } from "../../builders/upstream-server.ts";
import {
  AIRPORTS_CSV,
  AIRPORTS_PATH,
  aSourceError,
  REGIONS_PATH,
  textOf,
  UpstreamWorld,
} from "../../builders/upstream-world.ts";
import { useUpstreamServer } from "../../builders/use-upstream-server.ts";

const server = useUpstreamServer();
let world: UpstreamWorld;

beforeEach(() => void (world = new UpstreamWorld(server)));

const GOOD = file(AIRPORTS_CSV);

/** What a fetch that fails says. */
async function failure(): Promise<string> {
  const error = await world.fetch().catch((cause: unknown) => cause);
  return String(error);
}

describe("a redirect", () => {
  it.each([301, 302, 303, 307, 308])(
    "with status %i is followed on the same host",
    async (code) => {
      server.on(AIRPORTS_PATH, redirect("../moved.csv?v=2", code));
      server.on("/moved.csv?v=2", GOOD);
      expect(textOf(await world.fetch(), 0)).toBe(AIRPORTS_CSV);
      expect(server.paths).toEqual([AIRPORTS_PATH, "/moved.csv?v=2", REGIONS_PATH]);
    },
  );

  it("keeps the conditions of the request", async () => {
    server.on(AIRPORTS_PATH, redirect("/moved.csv"));
    server.on("/moved.csv", file(AIRPORTS_CSV, { etag: '"a1"' }));
    await world.fetch();
    expect(server.requests.at(-1)).toMatchObject({
      path: "/moved.csv",
      headers: { "if-none-match": '"a1"' },
    });
  });

  it("is followed five times, and not a sixth", async () => {
    const hops = (count: number) => {
      for (let hop = 1; hop <= count; hop++)
        server.on(hop === 1 ? AIRPORTS_PATH : `/${hop}`, redirect(`/${hop + 1}`));
      server.on(`/${count + 1}`, GOOD);
    };
    hops(5);
    expect(textOf(await world.fetch(), 0)).toBe(AIRPORTS_CSV);
    hops(6);
    await expect(world.fetch()).rejects.toMatchObject({
      fault: "redirect_refused",
      message: expect.stringContaining("redirects more than 5 times"),
    });
  });

  it("is followed to a host of the other file", async () => {
    const other = await UpstreamServer.start();
    other.on("/r.csv", file("code,name\n"));
    other.on("/a.csv", GOOD);
    server.on(AIRPORTS_PATH, redirect(other.url("/a.csv")));
    const urls = { "airports.csv": server.url(AIRPORTS_PATH), "regions.csv": other.url("/r.csv") };
    world.options = { urls };
    expect(textOf(await world.fetch(), 0)).toBe(AIRPORTS_CSV);
    await other.stop();
  });

  it("to another port of this machine is not followed, unless it is on the list", async () => {
    const other = await UpstreamServer.start();
    server.on(AIRPORTS_PATH, redirect(other.url("/a.csv")));
    expect(await failure()).toContain(
      `redirects to ${other.host}/a.csv, which is not on an allowed`,
    );
    expect(other.paths).toEqual([]);
    await other.stop();
  });

  it.each([
    [
      "off the list",
      "https://evil.example/a.csv",
      "evil.example/a.csv, which is not on an allowed",
    ],
    [
      "to the metadata of a cloud",
      "http://169.254.169.254/meta",
      "which is not on an allowed host",
    ],
    ["to a file", "file:///etc/passwd", "file:, which is neither http nor https"],
    ["with a password", "https://u:hidden@good.example/?hidden", "good.example/, which has a user"],
    ["to no URL", "http://", "redirects to no URL"],
    ["without a location", undefined, "redirects to no URL"],
  ])("%s ends the run at once, and tells no secret", async (_, location, message) => {
    world.options = { allowedHosts: ["good.example"] };
    server.on(AIRPORTS_PATH, redirect(location));
    const said = await failure();
    expect(said).toContain(message);
    expect(said).not.toContain("hidden");
    expect(server.paths).toHaveLength(1);
    await expect(world.fetch()).rejects.toMatchObject(aSourceError("redirect_refused"));
  });

  it("from https is followed to an allowed host, but not to http", async () => {
    const asked: string[] = [];
    const redirectTo = (location: string) => {
      world.options = {
        urls: {
          "airports.csv": "https://a.example/a.csv",
          "regions.csv": "https://a.example/r.csv",
        },
        allowedHosts: ["CDN.example"],
        fetch: async (url) => {
          asked.push(url);
          return url.endsWith("/a.csv")
            ? new Response(null, { status: 302, headers: { location } })
            : new Response(AIRPORTS_CSV);
        },
      };
    };
    redirectTo("https://cdn.example/x");
    expect(textOf(await world.fetch(), 0)).toBe(AIRPORTS_CSV);
    expect(asked).toContain("https://cdn.example/x");
    redirectTo("http://cdn.example/x");
    expect(await failure()).toContain("cdn.example/x, which leaves https");
    expect(asked).not.toContain("http://cdn.example/x");
  });
});
