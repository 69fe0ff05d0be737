import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import type { ArchivedFiles, UpstreamFile } from "../../../src/sources/upstream.ts";
import { anAirportRow, csvOf } from "../../builders/source.ts";
import { compressedFile, file } from "../../builders/upstream-server.ts";
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

const MODIFIED = "Sat, 31 Oct 2026 06:00:00 GMT";
const as_of = "2026-10-31";
const NEW_AIRPORTS_CSV = csvOf([anAirportRow({ name: "Kloten" })]);

/** What a caller remembers of files that were sent. */
function remember(files: readonly UpstreamFile[]): ArchivedFiles {
  return Object.fromEntries(
    files.flatMap((sent) => {
      if (!("bytes" in sent)) return [];
      const { name, bytes, ...validators } = sent;
      return [[name, { ...validators, sha256: sha256Hex(bytes) }]];
    }),
  );
}

describe("an HTTP upstream", () => {
  it("fetches airports.csv and regions.csv, each once, byte for byte", async () => {
    const files = await world.fetch();
    expect(server.paths).toEqual([AIRPORTS_PATH, REGIONS_PATH]);
    expect(files.map(({ name }) => name)).toEqual(["airports.csv", "regions.csv"]);
    expect([textOf(files, 0), textOf(files, 1)]).toEqual([AIRPORTS_CSV, REGIONS_CSV]);
  });

  it.each<readonly [string, string | undefined, string | undefined]>([
    ["with the day of its Last-Modified", MODIFIED, "2026-10-31"],
    ["with no day if there is no Last-Modified", undefined, undefined],
    ["in the form of RFC 850", "Saturday, 31-Oct-26 06:00:00 GMT", "2026-10-31"],
    ["in that form of the last century", "Sunday, 31-Oct-99 06:00:00 GMT", "1999-10-31"],
    ["in the form of asctime", "Sat Oct 31 06:00:00 2026", "2026-10-31"],
    ["in that form with one digit", "Thu Oct  1 06:00:00 2026", "2026-10-01"],
    ...[
      "yesterday",
      "-5",
      "2026-10-31",
      "2026-10-31T06:00:00Z",
      "Sat, 31 Oct 2026 06:00:00",
      "Fri, 31 Oct 2026 06:00:00 GMT",
      "Sat, 31 Oct 2026 25:00:00 GMT",
      "Mon, 01 Jan 0001",
      "Friday, 31-Oct-26 06:00:00 GMT",
      "Saturday, 31-Oct-26 06:00:00",
      "Fri Oct 31 06:00:00 2026",
      "Sat Oct 31 06:00:00 2026 GMT",
      "Mon, 01 Jan 0001 00:00:00 GMT",
      "Wed, 31 Dec 1969 23:59:59 GMT",
      "Sun, 01 Nov 2037 06:00:00 GMT",
      "Fri, 31 Dec 9999 23:59:59 GMT",
    ].map((text) => [`with no day if Last-Modified is “${text}”`, text, undefined] as const),
  ])("dates a file %s", async (_, modified, day) => {
    const headers = { etag: '"a1"', ...(modified !== undefined && { "last-modified": modified }) };
    server.on(AIRPORTS_PATH, file(AIRPORTS_CSV, headers));
    const first = await world.fetch();
    expect(first[0]?.as_of).toBe(day);
    const [unchanged] = await world.fetch(remember(first));
    expect(unchanged).toMatchObject({ unchangedSha256: sha256Hex(AIRPORTS_CSV) });
    expect(unchanged?.as_of).toBe(day);
  });

  it("returns the same bytes when the server compresses them", async () => {
    server.on(AIRPORTS_PATH, compressedFile(AIRPORTS_CSV));
    const files = await world.fetch();
    expect(server.requests[0]?.headers["accept-encoding"]).toBe("gzip");
    expect(files[0]?.name).toBe("airports.csv");
    expect(textOf(files, 0)).toBe(AIRPORTS_CSV);
  });

  it("names a gzip file .gz, returns its bytes compressed, and keeps the name when it is unchanged", async () => {
    server.on(AIRPORTS_PATH, file(gzipSync(AIRPORTS_CSV), { etag: '"a1"' }));
    const first = await world.fetch();
    const name = "airports.csv.gz";
    expect(first[0]).toMatchObject({ name, bytes: Uint8Array.from(gzipSync(AIRPORTS_CSV)) });
    expect((await world.fetch(remember(first)))[0]).toMatchObject({
      name,
      unchangedSha256: sha256Hex(gzipSync(AIRPORTS_CSV)),
    });
  });

  it("sends its User-Agent, and bypasses caches", async () => {
    await world.fetch();
    expect(server.requests[0]?.headers).toMatchObject({
      "user-agent": "locations-at-the-edge",
      "cache-control": "no-cache",
    });
  });

  it.each(["ftp://example.org/airports.csv", "airports.csv", "https://me:pw@example.org/a.csv"])(
    "refuses the URL %s when it is created",
    (url) => {
      world.options = { urls: { "airports.csv": url, "regions.csv": server.url(REGIONS_PATH) } };
      expect(() => world.upstream()).toThrow("the URL of airports.csv ");
    },
  );

  it("calls fetch without a this, because the platform's fetch would refuse one", async () => {
    const selves: unknown[] = [];
    world.options = {
      async fetch(this: unknown, url: string) {
        selves.push(this);
        return responseFrom(url, AIRPORTS_CSV);
      },
    };
    await world.fetch();
    expect(selves).toEqual([undefined, undefined]);
  });
});

describe("a file that the archive already has", () => {
  const serve = (airports: string, tag: string) => {
    server.on(AIRPORTS_PATH, file(airports, { etag: `"a${tag}"`, "last-modified": MODIFIED }));
    server.on(REGIONS_PATH, file(REGIONS_CSV, { "last-modified": MODIFIED }));
  };

  it("needs no download while its ETag or its Last-Modified is current", async () => {
    serve(AIRPORTS_CSV, "1");
    const archived = remember(await world.fetch());
    server.requests.length = 0;
    expect(await world.fetch(archived)).toEqual([
      { name: "airports.csv", unchangedSha256: sha256Hex(AIRPORTS_CSV), as_of },
      { name: "regions.csv", unchangedSha256: sha256Hex(REGIONS_CSV), as_of },
    ]);
    const [airports, regions, ...more] = server.requests;
    expect(airports?.headers).toMatchObject({
      "if-none-match": '"a1"',
      "if-modified-since": MODIFIED,
    });
    expect(regions?.headers["if-modified-since"]).toBe(MODIFIED);
    expect(regions?.headers["if-none-match"]).toBeUndefined();
    expect(more).toEqual([]);
  });

  it("arrives again if it has changed, although the other file has not", async () => {
    serve(AIRPORTS_CSV, "1");
    const archived = remember(await world.fetch());
    serve(NEW_AIRPORTS_CSV, "2");
    const files = await world.fetch(archived);
    expect(textOf(files, 0)).toBe(NEW_AIRPORTS_CSV);
    expect(files[0]).toMatchObject({ etag: '"a2"' });
    expect(files[1]).toEqual({
      name: "regions.csv",
      unchangedSha256: sha256Hex(REGIONS_CSV),
      as_of,
    });
  });

  it("arrives again if it came from another URL, whatever its Last-Modified", async () => {
    server.on(AIRPORTS_PATH, file(AIRPORTS_CSV, { "last-modified": MODIFIED }));
    const archived = remember(await world.fetch());
    server.on("/mirror.csv", file(NEW_AIRPORTS_CSV, { "last-modified": MODIFIED }));
    world.options = {
      urls: {
        "airports.csv": server.url("/mirror.csv"),
        "regions.csv": server.url(REGIONS_PATH),
      },
    };
    expect(textOf(await world.fetch(archived), 0)).toBe(NEW_AIRPORTS_CSV);
  });

  it("leads to a request without conditions if it has no validators", async () => {
    const archived = remember(await world.fetch());
    server.requests.length = 0;
    expect(textOf(await world.fetch(archived), 0)).toBe(AIRPORTS_CSV);
    expect(server.requests[0]?.headers).not.toHaveProperty("if-none-match");
    expect(server.requests[0]?.headers).not.toHaveProperty("if-modified-since");
  });

  it("does not stand in for a 304 to a request without conditions", async () => {
    server.on(AIRPORTS_PATH, (_, response) => {
      response.writeHead(304).end();
    });
    expect(await world.failure()).toMatchObject({
      fault: "http_refused",
      message: expect.stringContaining("answers 304"),
    });
  });
});
