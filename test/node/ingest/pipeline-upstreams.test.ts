import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/hash.ts";
import type { ArchivedFiles, Upstream } from "../../../src/sources/upstream.ts";
import { PipelineWorld } from "../../builders/pipeline-world.ts";
import { aSnapshot } from "../../builders/small-snapshot.ts";
import { compressedFile, file, UpstreamServer } from "../../builders/upstream-server.ts";
import { AIRPORTS_PATH, REGIONS_PATH, UpstreamWorld } from "../../builders/upstream-world.ts";

const decompress = (name: string) =>
  gunzipSync(new Uint8Array(aSnapshot().files[name] ?? new ArrayBuffer())).toString();
const AIRPORTS = decompress("airports.csv.gz");
const REGIONS = decompress("regions.csv.gz");

let server: UpstreamServer;
let world: PipelineWorld;

beforeAll(async () => {
  server = await UpstreamServer.start();
});
beforeEach(() => {
  world = new PipelineWorld(["en"]);
});
afterAll(async () => server.stop());

/** The hash of what is published from the files of an upstream. */
async function publish(upstream: Upstream | undefined): Promise<string | undefined> {
  const fresh = new PipelineWorld(["en"]);
  fresh.upstream = upstream;
  await fresh.runToEnd("incremental", () => fresh.newPipeline());
  return fresh.current?.catalog_sha256;
}

const giving = (files: { readonly [name: string]: string | Uint8Array }): Upstream => ({
  name: "test",
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

  it("publishes the same catalog from files that a server sends", async () => {
    const upstreamWorld = new UpstreamWorld(server);
    server.on(AIRPORTS_PATH, compressedFile(AIRPORTS, { etag: '"a1"' }));
    server.on(REGIONS_PATH, file(REGIONS));
    expect(await publish(upstreamWorld.upstream())).toBe(await publish(undefined));
  });

  it("builds from the archived bytes of a file that has not changed", async () => {
    const upstreamWorld = new UpstreamWorld(server);
    server.on(AIRPORTS_PATH, file(AIRPORTS, { etag: '"a1"' }));
    server.on(REGIONS_PATH, file(REGIONS, { etag: '"r1"' }));
    const upstream = upstreamWorld.upstream();
    const files = await upstream.fetch();
    const archived: ArchivedFiles = Object.fromEntries(
      files.flatMap((sent) =>
        "bytes" in sent ? [[sent.name, { ...sent, sha256: sha256Hex(sent.bytes) }]] : [],
      ),
    );
    world.upstream = upstream;
    await world.runToEnd();
    const writes = world.archive.calls.filter((call) => call.startsWith("write")).length;
    world.upstream = { name: "test", fetch: async () => upstream.fetch(archived) };
    // A pipeline that holds nothing in memory has to read the archive.
    const end = await world.runToEnd("full", () => world.newPipeline());
    expect(end.outcome).toBe("published");
    expect(world.archive.calls.filter((call) => call.startsWith("write"))).toHaveLength(writes);
    expect(world.current).toMatchObject({
      generation: 2,
      sources: { "airports.csv": sha256Hex(AIRPORTS), "regions.csv": sha256Hex(REGIONS) },
    });
  });

  it("ends when upstream gives no file for a table", async () => {
    world.upstream = giving({ "airports.csv": AIRPORTS });
    await expect(world.runToEnd()).rejects.toMatchObject({
      name: "SourceError",
      fault: "missing_file",
      message: "upstream gave no file for regions.csv",
    });
  });
});
