import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { WATCHDOG_MS } from "../../../src/coordinator/engine.ts";
import { HTTP_DEADLINE_MS } from "../../../src/sources/http-upstream.ts";
import type { SourceFault } from "../../../src/sources/source-error.ts";
import {
  type Behavior,
  cutShort,
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
  REGIONS_CSV,
  REGIONS_PATH,
  responseFrom,
  textOf,
  UpstreamWorld,
} from "../../builders/upstream-world.ts";
import { useUpstreamServer } from "../../builders/use-upstream-server.ts";

const server = useUpstreamServer();
let world: UpstreamWorld;

beforeEach(() => void (world = new UpstreamWorld(server)));

const START = AIRPORTS_CSV.slice(0, 100);

/** Serves airports.csv, and returns whether its connection is closed. */
function noteClose(behavior: Behavior): () => boolean {
  let isClosed = false;
  server.on(AIRPORTS_PATH, (request, response) => {
    response.on("close", () => {
      isClosed = true;
    });
    return behavior(request, response);
  });
  return () => isClosed;
}

describe("a transient fault", () => {
  it.each<[SourceFault, string, Behavior]>([
    ["unreachable", "hangs up before it answers", hangUp],
    ["broken_off", "resets the connection in the middle of the file", reset(START)],
    ["broken_off", "sends less than it announced", cutShort(START, AIRPORTS_CSV.length)],
    [
      "broken_off",
      "compresses less than it says",
      file(AIRPORTS_CSV, { "content-encoding": "gzip" }),
    ],
    ...[408, 429, 500, 503, 526].map((code): [SourceFault, string, Behavior] => [
      "http_status",
      `answers ${code}`,
      status(code),
    ]),
  ])("ends as %s when upstream %s, after one request", async (fault, _, behavior) => {
    server.on(AIRPORTS_PATH, behavior);
    expect(await world.failure()).toMatchObject({ fault, isTransient: true });
    expect(server.paths).toEqual([AIRPORTS_PATH]);
  });

  it("has the code unreachable when nobody listens", async () => {
    const gone = await UpstreamServer.start();
    const urls = { "airports.csv": gone.url("/a.csv"), "regions.csv": gone.url("/r.csv") };
    const { host } = gone;
    await gone.stop();
    world.options = { urls };
    expect(await world.failure()).toEqual({
      fault: "unreachable",
      isTransient: true,
      message: expect.stringContaining(`${host}/a.csv cannot be reached`),
    });
  });

  it.each([
    [undefined, null, "answers 503; try again later"],
    ["soon", null, "answers 503; try again later"],
    ["-5", null, "answers 503; try again later"],
    ["1.5", null, "answers 503; try again later"],
    ["Mon, 01 Jan 0001", null, "answers 503; try again later"],
    ["2026-11-01T04:18:30Z", null, "answers 503; try again later"],
    ["0", 0, "answers 503 and asks to be left alone for 0 s; try again later"],
    ["120", 120_000, "answers 503 and asks to be left alone for 120 s; try again later"],
    ["Sun, 01 Nov 2026 04:18:30 GMT", 90_000, "left alone for 90 s"],
    ["Sunday, 01-Nov-26 04:18:30 GMT", 90_000, "left alone for 90 s"],
    ["Sun Nov  1 04:18:30 2026", 90_000, "left alone for 90 s"],
    ["9".repeat(400), Number.MAX_SAFE_INTEGER, "asks to be left alone for"],
    ["Sun, 01 Nov 2026 04:00:00 GMT", 0, "left alone for 0 s"],
  ])("turns the Retry-After %j into a wait of %j ms", async (value, retryAfterMs, message) => {
    server.on(AIRPORTS_PATH, status(503, { "retry-after": value }));
    await expect(world.fetch()).rejects.toMatchObject({
      retryAfterMs,
      message: expect.stringContaining(message),
    });
  });
});

describe("a client error that says when to come back", () => {
  it.each([403, 404, 420])("waits, as long as upstream asks: %i", async (code) => {
    server.on(AIRPORTS_PATH, status(code, { "retry-after": "120" }));
    await expect(world.fetch()).rejects.toMatchObject({
      fault: "http_status",
      retryAfterMs: 120_000,
      message: expect.stringContaining(`answers ${code} and asks to be left alone for 120 s`),
    });
  });

  it.each([
    [403, "soon"],
    [204, "120"],
  ])("does not pass if nobody can know it: %i with %s", async (code, value) => {
    server.on(AIRPORTS_PATH, status(code, { "retry-after": value }));
    expect(await world.failure()).toMatchObject({ fault: "http_refused", isTransient: false });
  });
});

describe("a permanent fault", () => {
  it.each([204, 206, 400, 404, 451])(
    "has the code http_refused when upstream answers %i",
    async (code) => {
      server.on(AIRPORTS_PATH, status(code));
      expect(await world.failure()).toEqual({
        fault: "http_refused",
        isTransient: false,
        message: `${server.host}${AIRPORTS_PATH} answers ${code}; check the URL`,
      });
    },
  );

  it.each<[string, string, Behavior]>([
    ["not_csv", "a zip archive", file(Uint8Array.of(0x50, 0x4b, 3, 4, 20, 0))],
    ["bad_encoding", "gzip within gzip", file(gzipSync(gzipSync(AIRPORTS_CSV)))],
    ["not_utf8", "UTF-16", file(Buffer.from(`\ufeff${AIRPORTS_CSV}`, "utf16le"))],
    [
      "not_utf8",
      "UTF-16 with the other byte first",
      file(Buffer.from(`\ufeff${AIRPORTS_CSV}`, "utf16le").swap16()),
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
  ])("has the code %s when upstream sends %s with status 200", async (fault, _, behavior) => {
    server.on(AIRPORTS_PATH, behavior);
    expect(await world.failure()).toMatchObject({ fault, isTransient: false });
  });

  it("names its file, also if that is the second one", async () => {
    server.on(REGIONS_PATH, file("<html>"));
    const { message } = await world.failure();
    expect(message).toContain(`${server.host}${REGIONS_PATH} holds a page`);
  });
});

describe("a file over the limit", () => {
  it("fails the fetch with one byte more than the limit, and passes with none", async () => {
    const { length } = new TextEncoder().encode(AIRPORTS_CSV);
    world.options = { maxBytes: length };
    expect(textOf(await world.fetch(), 0)).toBe(AIRPORTS_CSV);
    world.options = { maxBytes: length - 1 };
    expect(await world.failure()).toMatchObject({ fault: "too_large", isTransient: false });
  });

  it.each<[string, Behavior]>([
    ["never ends", endless()],
    ["is small only while it is compressed", endless({ gzip: true })],
    ["announces no more than its compressed size", compressedFile("1,2,3\n".repeat(20_000))],
    ["is a gzip file that swells", file(gzipSync("1,2,3\n".repeat(20_000)))],
  ])("fails the fetch when it %s, and the connection closes", async (_, behavior) => {
    const isClosed = noteClose(behavior);
    expect(await world.failure()).toEqual({
      fault: "too_large",
      isTransient: false,
      message: expect.stringContaining("is larger than the limit of 100000 bytes"),
    });
    await expect.poll(isClosed).toBe(true);
  });

  it("stops at most one chunk beyond the limit", async () => {
    const chunk = Buffer.alloc(1000, "1,2,3\n");
    let chunks = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      chunks++;
      controller.enqueue(chunk);
    };
    const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    world.options = { fetch: async (url) => responseFrom(url, body) };
    expect(await world.failure()).toMatchObject({ fault: "too_large" });
    expect(chunks).toBe(101);
  });
});

it("cuts a file at a Content-Length that is too small, which only its last row shows", async () => {
  server.on(
    AIRPORTS_PATH,
    raw(`HTTP/1.1 200 OK\r\ncontent-length: ${START.length}\r\n\r\n${AIRPORTS_CSV}`),
  );
  expect(textOf(await world.fetch(), 0)).toBe(START);
});

describe("the deadline", () => {
  const slowly = (content: string): Behavior => {
    const answer = file(content);
    return async (request, response) => {
      await delay(250);
      await answer(request, response);
    };
  };

  it.each<[string, Behavior, Behavior?]>([
    ["answers nothing", silence],
    ["stops in the middle of the file", stall(START)],
    ["sends a byte at a time without end", drip(20)],
    ["sends each file in time, but not both", slowly(AIRPORTS_CSV), slowly(REGIONS_CSV)],
  ])("fails the fetch when upstream %s", async (_, airports, regions = file(REGIONS_CSV)) => {
    world.options = { deadlineMs: 400 };
    server.on(AIRPORTS_PATH, airports);
    server.on(REGIONS_PATH, regions);
    expect(await world.failure()).toEqual({
      fault: "deadline",
      isTransient: true,
      message: expect.stringContaining("was not complete within the 0.4 s that all files may take"),
    });
  });

  it("ends before the watchdog", () => {
    expect(HTTP_DEADLINE_MS).toBeLessThan(WATCHDOG_MS);
  });
});

describe("the message of a fault", () => {
  it("contains no query, not even from the platform's own message", async () => {
    world.options = {
      urls: {
        "airports.csv": "https://a.example/a.csv?key=hidden",
        "regions.csv": "https://a.example/r",
      },
      fetch: async (url) => {
        throw new TypeError("fetch failed", { cause: new Error(`no route to ${url}`) });
      },
    };
    const { message } = await world.failure();
    expect(message).toBe(
      "a.example/a.csv cannot be reached (no route to …); check the host and the network",
    );
  });

  it("contains at most 200 characters of a URL", async () => {
    const path = `/${"x".repeat(5000)}`;
    world.options = {
      urls: { "airports.csv": server.url(path), "regions.csv": server.url(REGIONS_PATH) },
    };
    const { message } = await world.failure();
    expect(message).toBe(`${`${server.host}${path}`.slice(0, 200)} answers 404; check the URL`);
  });
});
