import { gunzipSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/hash.ts";
import type { ArchivedFiles, UpstreamFile } from "../../../src/sources/upstream.ts";
import { anAirportRow, csvOf } from "../../builders/source.ts";
import { type Behavior, compressedFile, file } from "../../builders/upstream-server.ts";
import {
  AIRPORTS_CSV,
  AIRPORTS_PATH,
  aSourceError,
  REGIONS_CSV,
  REGIONS_PATH,
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
  it("gives airports.csv and regions.csv, byte for byte", async () => {
    const files = await world.fetch();
    expect(files.map(({ name }) => name)).toEqual(["airports.csv", "regions.csv"]);
    expect([textOf(files, 0), textOf(files, 1)]).toEqual([AIRPORTS_CSV, REGIONS_CSV]);
  });

  it("gives the validators of each file, and no others", async () => {
    server.on(AIRPORTS_PATH, file(AIRPORTS_CSV, { etag: '"a1"', "last-modified": MODIFIED }));
    const [airports, regions] = await world.fetch();
    expect(airports).toMatchObject({ etag: '"a1"', last_modified: MODIFIED });
    expect(Object.keys(regions ?? {}).toSorted()).toEqual(["as_of", "bytes", "name", "origin"]);
  });

  it.each([
    ["the day on which it was last modified", MODIFIED, "2026-10-31"],
    ["today where it does not say that", undefined, "2026-11-01"],
    ["today where it says what is no date", "yesterday", "2026-11-01"],
    ["today where that is in the future", "Sun, 01 Nov 2037 06:00:00 GMT", "2026-11-01"],
  ])("dates a file: %s", async (_, modified, day) => {
    const headers = { etag: '"a1"', ...(modified !== undefined && { "last-modified": modified }) };
    server.on(AIRPORTS_PATH, file(AIRPORTS_CSV, headers));
    const first = await world.fetch();
    expect(first[0]?.as_of).toBe(day);
    const [unchanged] = await world.fetch(remember(first));
    expect(unchanged).toMatchObject({ unchangedSha256: sha256Hex(AIRPORTS_CSV), as_of: day });
  });

  it("gives the same bytes when the server compresses them", async () => {
    server.on(AIRPORTS_PATH, compressedFile(AIRPORTS_CSV));
    const files = await world.fetch();
    expect(server.requests[0]?.headers["accept-encoding"]).toBe("gzip");
    expect(files[0]?.name).toBe("airports.csv");
    expect(textOf(files, 0)).toBe(AIRPORTS_CSV);
  });

  it("names a file that is itself gzip so, and leaves its bytes as they are", async () => {
    const bytes = gzipSync(AIRPORTS_CSV);
    server.on(AIRPORTS_PATH, file(bytes, { "content-type": "application/gzip" }));
    const [airports] = await world.fetch();
    expect(airports).toMatchObject({ name: "airports.csv.gz" });
    const sent = airports !== undefined && "bytes" in airports ? airports.bytes : new Uint8Array();
    expect(gunzipSync(sent).toString()).toBe(AIRPORTS_CSV);
  });

  it("says who asks, and asks caches for nothing", async () => {
    await world.fetch();
    expect(server.requests[0]?.headers).toMatchObject({
      "user-agent": "locations-at-the-edge",
      "cache-control": "no-cache",
    });
  });

  it.each(["ftp://example.org/airports.csv", "airports.csv", "https://me:pw@example.org/a.csv"])(
    "is not made for the URL %s",
    (url) => {
      world.options = { urls: { "airports.csv": url, "regions.csv": server.url(REGIONS_PATH) } };
      expect(() => world.upstream()).toThrow("the URL of airports.csv ");
    },
  );

  it("calls fetch without a this, which the platform's would refuse", async () => {
    const selves: unknown[] = [];
    world.options = {
      async fetch(this: unknown) {
        selves.push(this);
        return new Response(AIRPORTS_CSV);
      },
    };
    await world.fetch();
    expect(selves).toEqual([undefined, undefined]);
  });
});

describe("a file that is archived already", () => {
  const serve = (airports: string, tag: string) => {
    server.on(AIRPORTS_PATH, file(airports, { etag: `"a${tag}"`, "last-modified": MODIFIED }));
    server.on(REGIONS_PATH, file(REGIONS_CSV, { "last-modified": MODIFIED }));
  };

  it("is not sent again while its ETag or its Last-Modified is current", async () => {
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

  it("keeps the name that it is archived under", async () => {
    server.on(AIRPORTS_PATH, file(gzipSync(AIRPORTS_CSV), { etag: '"a1"' }));
    const archived = remember(await world.fetch());
    const [airports] = await world.fetch(archived);
    expect(airports).toMatchObject({
      name: "airports.csv.gz",
      unchangedSha256: archived["airports.csv.gz"]?.sha256,
    });
  });

  it("is sent when it has changed, beside one that has not", async () => {
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

  it("is sent when it came from another URL, whose dates say nothing of this one", async () => {
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

  it("is asked for without conditions if it has no validators", async () => {
    const archived = remember(await world.fetch());
    server.requests.length = 0;
    expect(textOf(await world.fetch(archived), 0)).toBe(AIRPORTS_CSV);
    expect(server.requests[0]?.headers).not.toHaveProperty("if-none-match");
    expect(server.requests[0]?.headers).not.toHaveProperty("if-modified-since");
  });

  it("cannot stand for a 304 that nobody asked for", async () => {
    server.on(AIRPORTS_PATH, (_, response) => {
      response.writeHead(304).end();
    });
    await expect(world.fetch()).rejects.toMatchObject({
      fault: "http_refused",
      message: expect.stringContaining("answers 304"),
    });
  });
});

describe("an upstream that publishes while it is read", () => {
  const OLD = file(AIRPORTS_CSV, { etag: '"old"' });
  const NEW = file(NEW_AIRPORTS_CSV, { etag: '"new"' });

  it("is asked for the first file again once the last is there", async () => {
    server.on(AIRPORTS_PATH, OLD);
    expect(textOf(await world.fetch(), 0)).toBe(AIRPORTS_CSV);
    expect(server.paths).toEqual([AIRPORTS_PATH, REGIONS_PATH, AIRPORTS_PATH]);
    expect(server.requests[2]?.headers["if-none-match"]).toBe('"old"');
  });

  it("is read from the beginning, so that both files are of one version", async () => {
    server.on(AIRPORTS_PATH, OLD, NEW);
    server.on(REGIONS_PATH, file(REGIONS_CSV), file("code,name\nCH-ZH,new\n"));
    const files = await world.fetch();
    expect([textOf(files, 0), textOf(files, 1)]).toEqual([
      NEW_AIRPORTS_CSV,
      "code,name\nCH-ZH,new\n",
    ]);
  });

  it("is noticed by Last-Modified alone, too", async () => {
    server.on(
      AIRPORTS_PATH,
      file(AIRPORTS_CSV, { "last-modified": MODIFIED }),
      file(NEW_AIRPORTS_CSV, { "last-modified": "Sun, 01 Nov 2026 06:00:00 GMT" }),
    );
    expect(textOf(await world.fetch(), 0)).toBe(NEW_AIRPORTS_CSV);
  });

  it("ends the run when it goes on publishing", async () => {
    let version = 0;
    const everNew: Behavior = (request, response) =>
      file(AIRPORTS_CSV, { etag: `"${version++}"` })(request, response);
    server.on(AIRPORTS_PATH, everNew);
    await expect(world.fetch()).rejects.toMatchObject(aSourceError("changing"));
    expect(server.paths.filter((path) => path === REGIONS_PATH)).toHaveLength(3);
  });

  it("is taken at its word by a server that sends the same version instead of a 304", async () => {
    const stubborn: Behavior = (_, response) => {
      response.setHeader("etag", server.requests.length > 1 ? 'W/"a1"' : '"a1"');
      response.end(AIRPORTS_CSV);
    };
    server.on(AIRPORTS_PATH, stubborn);
    expect(textOf(await world.fetch(), 0)).toBe(AIRPORTS_CSV);
    expect(server.paths).toHaveLength(3);
  });

  it("goes unseen where the files have no validators", async () => {
    server.on(AIRPORTS_PATH, file(AIRPORTS_CSV), file(NEW_AIRPORTS_CSV));
    expect(textOf(await world.fetch(), 0)).toBe(AIRPORTS_CSV);
    expect(server.paths).toEqual([AIRPORTS_PATH, REGIONS_PATH]);
  });
});
