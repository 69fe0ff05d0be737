/** The upstream over HTTP in workerd, which decodes, aborts and redirects otherwise than Node. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { readSnapshotRows } from "../builders/forgetful-snapshot.ts";
import { moreAirports } from "../builders/small-snapshot.ts";
import { csvOf } from "../builders/source.ts";
import {
  type Behavior,
  cutShort,
  compressedFile,
  endless,
  file,
  raw,
  redirect,
} from "../builders/upstream-server.ts";
import { useUpstreamServer } from "../builders/use-upstream-server.ts";
import { type RunAnswer, TestService } from "./test-service.ts";

const AIRPORTS_PATH = "/data/airports.csv";
const REGIONS_PATH = "/data/regions.csv";
const MAX_BYTES = 1024 * 1024;
/** In the layout of the live file, which has 19 columns. */
const AIRPORTS = csvOf(moreAirports(60));
const SNAPSHOT_IDS = new Set(readSnapshotRows("airports.csv.gz").map(({ id }) => id));
const REGIONS = file("code,name\nCH-ZH,Zürich\n", { etag: '"r1"' });
/** Airports that the snapshot has though upstream did not list them: they stay. */
const ADDED = readSnapshotRows("airport-corrections.csv.gz").filter(
  ({ id, iata_code }) => iata_code === "" && SNAPSHOT_IDS.has(id),
).length;
const KEPT = 60 + ADDED;
const server = useUpstreamServer();
/** Another name of the same server is another host. */
const toForeignHost: Behavior = (request, response) =>
  redirect(server.url(REGIONS_PATH).replace("127.0.0.1", "localhost"))(request, response);
let service: TestService | undefined;

beforeAll(async () => {
  service = await TestService.start({
    build: inject("build"),
    locales: "en",
    vars: {
      SOURCE: "ourairports",
      SOURCE_URLS: [AIRPORTS_PATH, REGIONS_PATH].map((path) => server.url(path)).join(),
      SOURCE_MAX_BYTES: String(MAX_BYTES),
      // Most of the snapshot's airports are gone here.
      SURPRISE_HOLD_MS: "0",
      SURPRISE_UNLISTED_PERCENT: "100",
    },
  });
  server.on(AIRPORTS_PATH, compressedFile(AIRPORTS, { etag: '"a1"' }));
  server.on(REGIONS_PATH, REGIONS);
});

afterAll(() => service?.stop());

/** Runs an ingest and gives it as it ended, with the paths that it asked for. */
async function ingest(): Promise<{ readonly run: RunAnswer; readonly asked: readonly string[] }> {
  if (service === undefined) throw new Error("the service has not started");
  server.requests.splice(0);
  return { run: await service.ingest(), asked: server.paths };
}

describe("the upstream over HTTP, in workerd,", () => {
  it("delivers compressed files in the layout of the live ones to a run", async () => {
    const { run } = await ingest();
    expect(run).toMatchObject({
      outcome: "published",
      error: null,
      upstream: { "airports.csv": { etag: '"a1"' }, "regions.csv": { etag: '"r1"' } },
      counts: { airports: { seen: 60, kept: KEPT, rejected: 0 } },
    });
    expect(server.requests[0]?.headers["accept-encoding"]).toContain("gzip");
  });

  it("gets other requests from the engine when the gzip stream is cut off, then when fewer bytes arrive than Content-Length announces", async () => {
    const [first = {}, ...others] = moreAirports(60);
    const renamed = csvOf([{ ...first, name: "Kloten" }, ...others]);
    const compressed = gzipSync(renamed);
    const headers = { "content-encoding": "gzip" };
    server.on(
      AIRPORTS_PATH,
      file(compressed.subarray(0, compressed.length >> 1), headers),
      cutShort(renamed.slice(0, 100), renamed.length),
      file(compressed, headers),
    );
    const { run, asked } = await ingest();
    expect(run.counts?.airports).toMatchObject({ kept: KEPT, changed: 1 });
    expect(asked).toEqual([AIRPORTS_PATH, AIRPORTS_PATH, AIRPORTS_PATH, REGIONS_PATH]);
  });

  it.each([
    ["a gzip bomb", endless({ gzip: true }), "source_too_large"],
    ["a redirect to a host that is not allowed", toForeignHost, "source_redirect_refused"],
    [
      "a Content-Length that is too small",
      raw(`HTTP/1.1 200 OK\r\ncontent-length: 2000\r\n\r\n${AIRPORTS}`),
      "source_truncated",
      "parse",
    ],
  ])(
    "fails the run by %s without changing the served catalog",
    async (_, behavior, code, stage = "fetch") => {
      server.on(AIRPORTS_PATH, behavior);
      const served = await fetch(`${service?.url}/catalog/health`).then((answer) => answer.json());
      const { run } = await ingest();
      expect(run).toMatchObject({ state: "failed", error: { code, stage } });
      expect(
        await fetch(`${service?.url}/catalog/health`).then((answer) => answer.json()),
      ).toMatchObject({ generation: (served as { generation: number }).generation });
    },
  );
});
