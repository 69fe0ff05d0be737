import { gunzipSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import { ourAirports } from "../../../src/sources/our-airports.ts";
import type { ArchivedFiles, Upstream } from "../../../src/sources/upstream.ts";
import { sourceKey } from "../../../src/storage/keys.ts";
import { PipelineWorld } from "../../builders/pipeline-world.ts";
import { aSnapshot } from "../../builders/small-snapshot.ts";
import { file } from "../../builders/upstream-server.ts";
import { AIRPORTS_PATH, REGIONS_PATH, UpstreamWorld } from "../../builders/upstream-world.ts";
import { useUpstreamServer } from "../../builders/use-upstream-server.ts";

const decompress = async (name: string) => gunzipSync(await aSnapshot().read(name)).toString();
const AIRPORTS = await decompress("airports.csv.gz");
const REGIONS = await decompress("regions.csv.gz");

const server = useUpstreamServer();
let world: PipelineWorld;

beforeEach(() => {
  world = new PipelineWorld(["en"]);
});

/** The hash of what is published from the files of an upstream. */
async function publish(upstream: Upstream | undefined): Promise<string | undefined> {
  const fresh = new PipelineWorld(["en"]);
  fresh.upstream = upstream;
  await fresh.runToEnd("incremental", () => fresh.newPipeline());
  return fresh.current?.catalog_sha256;
}

const giving = (files: { readonly [name: string]: string | Uint8Array }): Upstream => ({
  reader: ourAirports,
  fetch: async () =>
    Object.entries(files).map(([name, content]) => ({ name, bytes: Buffer.from(content) })),
});

describe("a run", () => {
  it("publishes the same catalog from plain files, gzip files and a mixture", async () => {
    const embedded = await publish(undefined);
    expect(embedded).toMatch(/^[0-9a-f]{64}$/);
    const plain = { "airports.csv": AIRPORTS, "regions.csv": REGIONS };
    expect(await publish(giving(plain))).toBe(embedded);
    const mixed = { "airports.csv.gz": gzipSync(AIRPORTS), "regions.csv": REGIONS };
    expect(await publish(giving(mixed))).toBe(embedded);
  });

  it("reports that no airport of a country has a usable row, whatever the guards do", async () => {
    await world.runToEnd();
    world.source = "ourairports";
    world.upstream = giving({
      "airports.csv": AIRPORTS.replaceAll(",CH,CH-", ",,CH-"),
      "regions.csv": REGIONS,
    });
    const rows = AIRPORTS.split(",CH,CH-").length - 1;
    await expect(world.runToEnd()).rejects.toThrow(`most often unknown_country ${rows};`);
    expect(world.run.held?.unusable).toEqual([{ of: "country", name: "CH", rows }]);
  });

  it("builds from the archived bytes of a file that has not changed", async () => {
    const upstreamWorld = new UpstreamWorld(server);
    server.on(AIRPORTS_PATH, file(AIRPORTS, { etag: '"a1"' }));
    server.on(REGIONS_PATH, file(REGIONS, { etag: '"r1"' }));
    const upstream = upstreamWorld.upstream();
    world.upstream = upstream;
    await world.runToEnd();
    const archived = world.run.upstream;
    expect(archived).toMatchObject({
      "airports.csv": {
        sha256: sha256Hex(AIRPORTS),
        bytes: Buffer.byteLength(AIRPORTS),
        etag: '"a1"',
      },
    });
    const writes = () =>
      world.archive.bucket.calls.filter((call) => call.startsWith("put ")).length;
    const before = writes();
    // Nothing is published any more, so that the unchanged files make a version of their own.
    world.current = null;
    // A pipeline that holds nothing in memory has to read the archive.
    const end = await world.runToEnd("incremental", () => world.newPipeline());
    expect(end.outcome).toBe("published");
    expect(writes()).toBe(before);
    expect(world.run.upstream).toEqual(archived);
    expect(world.current).toMatchObject({
      generation: 1,
      sources: { "airports.csv": sha256Hex(AIRPORTS), "regions.csv": sha256Hex(REGIONS) },
    });
  });

  it("knows no date of files whose Last-Modified cannot be right, also while they are unchanged", async () => {
    const upstreamWorld = new UpstreamWorld(server);
    const wrong = { "last-modified": "Fri, 31 Dec 9999 23:59:59 GMT" };
    server.on(AIRPORTS_PATH, file(AIRPORTS, { etag: '"a1"', ...wrong }));
    server.on(REGIONS_PATH, file(REGIONS, { etag: '"r1"', ...wrong }));
    world.upstream = upstreamWorld.upstream();
    await world.runToEnd();
    expect(world.current?.as_of).toBeNull();
    // An earlier Worker took it for the day of the fetch.
    const files = Object.entries(world.archived);
    const archived = files.map(([name, known]) => [name, { ...known, as_of: "2026-11-01" }]);
    world.archived = Object.fromEntries(archived);
    await world.runToEnd("incremental", () => world.newPipeline());
    expect(server.requests.at(-1)?.headers["if-none-match"]).toBe('"r1"');
    for (const { as_of } of Object.values(world.run.upstream ?? {})) expect(as_of).toBeUndefined();
  });

  it.each<[string, () => void]>([
    ["lost", () => world.archive.bucket.files.delete(sourceKey(sha256Hex(AIRPORTS)))],
    ["damaged", () => world.archive.bucket.lay(sourceKey(sha256Hex(AIRPORTS)), new Uint8Array(9))],
  ])("fetches and archives again a file that the archive has %s, and no other", async (_, harm) => {
    const upstreamWorld = new UpstreamWorld(server);
    server.on(AIRPORTS_PATH, file(AIRPORTS, { etag: '"a1"' }));
    server.on(REGIONS_PATH, file(REGIONS, { etag: '"r1"' }));
    world.upstream = upstreamWorld.upstream();
    await world.runToEnd();
    harm();
    server.requests.length = 0;
    const end = await world.runToEnd("incremental", () => world.newPipeline());
    expect(end.outcome).toBe("unchanged");
    expect(await world.archive.read(sha256Hex(AIRPORTS))).toEqual(
      Uint8Array.from(Buffer.from(AIRPORTS)),
    );
    const asked = server.requests.map(({ path, headers }) => [path, headers["if-none-match"]]);
    expect(asked.slice(0, 2)).toEqual([
      [AIRPORTS_PATH, undefined],
      [REGIONS_PATH, '"r1"'],
    ]);
  });

  it("fetches every file again in mode full", async () => {
    const asked: ArchivedFiles[] = [];
    const upstream = giving({ "airports.csv": AIRPORTS, "regions.csv": REGIONS });
    world.upstream = {
      ...upstream,
      fetch: async (archived = {}) => {
        asked.push(archived);
        return upstream.fetch();
      },
    };
    await world.runToEnd();
    await world.runToEnd("incremental");
    await world.runToEnd("full");
    expect(asked.map((archived) => Object.keys(archived))).toEqual([
      [],
      ["airports.csv", "regions.csv"],
      [],
    ]);
  });

  it("fails when it names a source that does not exist", async () => {
    const step = world
      .newPipeline()
      .step(world.checkpoint, world.context({ source: "openflights" }));
    await expect(step).rejects.toMatchObject({ name: "RunFault", code: "unknown_source" });
  });

  it("fails when upstream gives no file for a table", async () => {
    world.upstream = giving({ "airports.csv": AIRPORTS });
    await expect(world.runToEnd()).rejects.toMatchObject({
      name: "SourceError",
      fault: "missing_file",
      message: "upstream has no file for regions.csv",
    });
  });
});
