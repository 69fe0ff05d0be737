import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import {
  type Behavior,
  brokenOff,
  compressedFile,
  drip,
  endless,
  file,
  hangUp,
  raw,
  reset,
  silence,
  stall,
  status,
  UpstreamServer,
} from "../../builders/upstream-server.ts";
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
const BEGINNING = AIRPORTS_CSV.slice(0, 100);

/** Fetches, and answers what the rejection says. */
async function failure(): Promise<string> {
  return world.fetch().then(
    () => "no failure",
    (error: unknown) => String(error),
  );
}

describe("a fault that may pass", () => {
  it.each<[string, Behavior]>([
    ["hangs up before it answers", hangUp],
    ["resets the connection in the middle of the file", reset(BEGINNING)],
    ["sends less than it announced", brokenOff(BEGINNING, AIRPORTS_CSV.length)],
    ...[408, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524].map((code): [string, Behavior] => [
      `answers ${code}`,
      status(code),
    ]),
  ])("is got over when upstream %s once", async (_, behavior) => {
    server.on(AIRPORTS_PATH, behavior, GOOD);
    expect(textOf(await world.fetch(), 0)).toBe(AIRPORTS_CSV);
    expect(server.paths).toEqual([AIRPORTS_PATH, AIRPORTS_PATH, REGIONS_PATH]);
    expect(world.sleeps).toEqual([500]);
  });

  it("is got over when upstream is silent once", async () => {
    // A slow machine may make more attempts silent than these two.
    world.limits = { ...world.limits, idleMs: 100, totalMs: Infinity, maxAttempts: Infinity };
    server.on(AIRPORTS_PATH, silence, stall(BEGINNING), GOOD);
    expect(textOf(await world.fetch(), 0)).toBe(AIRPORTS_CSV);
    expect(world.sleeps.length).toBeGreaterThanOrEqual(2);
  });

  it("ends the run when it lasts, after four attempts further and further apart", async () => {
    server.on(AIRPORTS_PATH, status(503));
    await expect(world.fetch()).rejects.toMatchObject(aSourceError("http_status"));
    expect(server.paths).toEqual(Array.from({ length: 4 }, () => AIRPORTS_PATH));
    expect(world.sleeps).toEqual([500, 1000, 2000]);
    expect(await failure()).toBe(
      `SourceError: ${server.host}${AIRPORTS_PATH} answers 503; try again later (4 attempts)`,
    );
  });

  it.each<[string, string, Behavior]>([
    ["unreachable", "hangs up", hangUp],
    ["truncated", "resets every connection", reset(BEGINNING)],
    ["truncated", "always sends less than it announced", brokenOff(BEGINNING, 5000)],
  ])("ends the run as %s when upstream %s", async (fault, _, behavior) => {
    server.on(AIRPORTS_PATH, behavior);
    await expect(world.fetch()).rejects.toMatchObject({ name: "SourceError", fault });
    expect(server.paths).toHaveLength(4);
  });

  it("ends the run as unreachable when nobody listens", async () => {
    const gone = await UpstreamServer.start();
    const urls = { "airports.csv": gone.url("/a.csv"), "regions.csv": gone.url("/r.csv") };
    const { host } = gone;
    await gone.stop();
    world.options = { urls };
    await expect(world.fetch()).rejects.toMatchObject(aSourceError("unreachable"));
    expect(await failure()).toContain(`${host}/a.csv cannot be reached`);
  });

  it("ends the run with what was sent when a body is shorter than announced", async () => {
    world.options = {
      fetch: async () => new Response(BEGINNING, { headers: { "content-length": "5000" } }),
    };
    expect(await failure()).toContain("after 100 of 5000 bytes");
  });
});

describe("a fault that stays", () => {
  it.each([204, 206, 400, 401, 403, 404, 410, 418, 451, 501, 525, 526])(
    "ends the run at once when upstream answers %i",
    async (code) => {
      server.on(AIRPORTS_PATH, status(code));
      await expect(world.fetch()).rejects.toMatchObject({
        fault: "http_refused",
        message: `${server.host}${AIRPORTS_PATH} answers ${code}; check the URL`,
      });
      expect(server.paths).toHaveLength(1);
    },
  );

  it.each<[string, string, Behavior]>([
    ["not_csv", "a page as such", file("<html></html>", { "content-type": "text/html" })],
    [
      "not_csv",
      "CSV that it calls a page",
      file(AIRPORTS_CSV, { "content-type": "Text/HTML;charset=utf-8" }),
    ],
    ["not_csv", "a page that it calls CSV", file(" \n<!doctype html>")],
    ["not_csv", "a page after a byte order mark", file("\ufeff<html>")],
    ["not_csv", "a page, compressed", compressedFile("<html></html>")],
    ["not_csv", "a page in a gzip file", file(gzipSync("<html></html>"))],
    ["empty", "nothing", file("")],
    ["empty", "nothing, compressed", compressedFile("")],
    ["empty", "an empty gzip file", file(gzipSync(""))],
    ["empty", "nothing but blanks", file("\ufeff \r\n\t")],
    ["bad_encoding", "a gzip file that breaks off", file(gzipSync(AIRPORTS_CSV).subarray(0, 60))],
    ["bad_encoding", "a gzip file that is damaged", file(Uint8Array.of(0x1f, 0x8b, 1, 2, 3, 4))],
  ])(
    "ends the run at once as %s when upstream sends %s with status 200",
    async (fault, _, behavior) => {
      server.on(AIRPORTS_PATH, behavior);
      await expect(world.fetch()).rejects.toMatchObject({ name: "SourceError", fault });
      expect(server.paths).toEqual([AIRPORTS_PATH]);
    },
  );

  it("is told of the second file as of the first", async () => {
    server.on(REGIONS_PATH, file("<html>"));
    expect(await failure()).toContain(`${server.host}${REGIONS_PATH} holds a page`);
  });

  it("ends the run when the body is not in the content coding that the server names", async () => {
    server.on(AIRPORTS_PATH, file(AIRPORTS_CSV, { "content-encoding": "gzip" }));
    await expect(world.fetch()).rejects.toMatchObject({
      fault: "truncated",
      message: expect.stringContaining("or cannot be decoded, after 0 bytes"),
    });
  });

  it("ends the run at once for a content coding that was not asked for", async () => {
    world.options = {
      fetch: async () => new Response("?", { headers: { "content-encoding": "zstd" } }),
    };
    await expect(world.fetch()).rejects.toMatchObject({
      fault: "bad_encoding",
      message: expect.stringContaining('has the content coding "zstd"'),
    });
  });
});

describe("a file over the limit", () => {
  it("is taken when it has as many bytes as the limit, and refused with one more", async () => {
    const { length } = new TextEncoder().encode(AIRPORTS_CSV);
    world.limits = { ...world.limits, maxBytes: length };
    expect(textOf(await world.fetch(), 0)).toBe(AIRPORTS_CSV);
    world.limits = { ...world.limits, maxBytes: length - 1 };
    await expect(world.fetch()).rejects.toMatchObject(aSourceError("too_large"));
  });

  it("is refused as soon as its Content-Length says so, without a byte of it", async () => {
    server.on(AIRPORTS_PATH, (_, response) => {
      response.setHeader("content-length", 100_001);
      response.flushHeaders();
    });
    await expect(world.fetch()).rejects.toMatchObject({
      fault: "too_large",
      message: `${server.host}${AIRPORTS_PATH} announces 100001 bytes, over the limit of 100000 bytes; if it is meant to be, raise the limit`,
    });
    expect(server.paths).toHaveLength(1);
  });

  it.each<[string, Behavior]>([
    ["never ends", endless()],
    ["is small only while it is compressed", endless({ gzip: true })],
    ["announces no more than its compressed size", compressedFile("1,2,3\n".repeat(20_000))],
    ["is a gzip file that swells", file(gzipSync("1,2,3\n".repeat(20_000)))],
  ])("is refused when it %s, and the connection is let go", async (_, behavior) => {
    let closed = false;
    server.on(AIRPORTS_PATH, (request, response) => {
      response.on("close", () => {
        closed = true;
      });
      return behavior(request, response);
    });
    await expect(world.fetch()).rejects.toMatchObject({
      fault: "too_large",
      message: expect.stringContaining("is larger than the limit of 100000 bytes"),
    });
    await expect.poll(() => closed).toBe(true);
    expect(server.paths).toHaveLength(1);
  });

  it("is read no further than a chunk beyond the limit", async () => {
    const chunk = Buffer.alloc(1000, "1,2,3\n");
    let chunks = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      chunks++;
      controller.enqueue(chunk);
    };
    const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    world.options = { fetch: async () => new Response(body) };
    await expect(world.fetch()).rejects.toMatchObject(aSourceError("too_large"));
    expect(chunks).toBe(101);
  });

  it("is cut at its Content-Length if that is too small, which its last row shows", async () => {
    server.on(
      AIRPORTS_PATH,
      raw(`HTTP/1.1 200 OK\r\ncontent-length: ${BEGINNING.length}\r\n\r\n${AIRPORTS_CSV}`),
    );
    expect(textOf(await world.fetch(), 0)).toBe(BEGINNING);
  });
});

describe("a file that takes too long", () => {
  it("ends the run when it drips without end, at the deadline for all files", async () => {
    world.limits = { ...world.limits, idleMs: 60_000 };
    server.on(
      AIRPORTS_PATH,
      drip(20, () => world.wait(10_000)),
    );
    await expect(world.fetch()).rejects.toMatchObject({
      fault: "deadline",
      message: expect.stringContaining("was not complete within the 90000 ms"),
    });
    expect(server.paths).toHaveLength(1);
  });

  it.each<[string, Behavior]>([
    ["before it answers", silence],
    ["in the middle of the file", stall(BEGINNING)],
  ])("ends the run when upstream is always silent %s", async (_, behavior) => {
    world.limits = { ...world.limits, idleMs: 100, maxAttempts: 2 };
    server.on(AIRPORTS_PATH, behavior);
    await expect(world.fetch()).rejects.toMatchObject({
      fault: "deadline",
      message: expect.stringContaining("sent nothing for 100 ms; try again later (2 attempts)"),
    });
  });

  it("ends the run in time also when fetch does not heed its signal", async () => {
    world.limits = { ...world.limits, idleMs: 20, maxAttempts: 1 };
    world.options = { fetch: async () => new Promise<never>(() => {}) };
    await expect(world.fetch()).rejects.toMatchObject(aSourceError("deadline"));
  });
});

describe("what a failure says", () => {
  it("names no query of a URL, nor one that the platform names", async () => {
    world.options = {
      urls: {
        "airports.csv": "https://a.example/a.csv?key=hidden",
        "regions.csv": "https://a.example/r",
      },
      fetch: async (url) => {
        throw new TypeError("fetch failed", { cause: new Error(`no route to ${url}`) });
      },
    };
    expect(await failure()).toBe(
      "SourceError: a.example/a.csv cannot be reached (no route to …); check the host and the network (4 attempts)",
    );
  });
});
