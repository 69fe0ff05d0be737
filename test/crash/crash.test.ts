import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import manifest from "../../data/snapshot/manifest.json" with { type: "json" };
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import type { RunRecord } from "../../src/ingest/run-record.ts";
import { type Stage, STAGES } from "../../src/ingest/run.ts";
import { dropKey } from "../../src/storage/keys.ts";
import { CALL, sha256 } from "../system/http.ts";
import { freePort } from "../system/running-service.ts";
import { requestMessage } from "../system/wire.ts";
import { readHistory } from "./coordinator-record.ts";
import { MortalWorker } from "./mortal-worker.ts";

/** What `GET /admin/ingest/runs/{id}` answers, as far as it is looked at here. */
interface RunAnswer {
  readonly id: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly source: string;
  readonly attempt: number;
  readonly retries: number;
  readonly progress: { readonly done: number; readonly total: number };
  readonly generation_before: number | null;
  readonly generation_after: number | null;
  readonly error: unknown;
}

/** An answer to a client, decoded. */
interface Sample {
  readonly locale: string;
  readonly generation: number;
  readonly catalog_sha256: string;
  /** Of the bytes that were received. */
  readonly bodySha256: string;
  readonly airports: number;
}

const LOCALES = ["en", "de"];
const AIRPORTS = manifest.counts.airports;
const REMOVED_AIRPORTS = 3;
/** Odd generations are of the one source, even ones of the other. */
const SOURCES = ["embedded", "dropped"];
/** Bounds a hang only. */
const RUN_DEADLINE_MS = 900_000;
/** Runs that may end before they have been caught in the stage that is wanted. */
const MAX_MISSES = 12;

/** In the middle of a step: it has been claimed and has not ended yet. */
const isIn = (stage: Stage) => (record: RunRecord) =>
  record.checkpoint.stage === stage && record.leaseUntil !== null;
const localesDone = ({ checkpoint }: RunRecord) => Object.keys(checkpoint.entries).length;
/** Where the process is killed, in order. */
const PLACES: readonly { readonly name: string; readonly is: (record: RunRecord) => boolean }[] = [
  { name: "fetch", is: isIn("fetch") },
  { name: "parse", is: isIn("parse") },
  { name: "build", is: isIn("build") },
  { name: "guard", is: isIn("guard") },
  { name: "encode", is: (record) => isIn("encode")(record) && localesDone(record) === 0 },
  { name: "encode, late", is: (record) => isIn("encode")(record) && localesDone(record) === 1 },
  // One transaction, which has no middle: it is killed when all is stored and nothing is recorded.
  { name: "publish", is: ({ checkpoint }) => checkpoint.stage === "publish" },
  { name: "verify", is: isIn("verify") },
];

const folder = mkdtempSync(join(tmpdir(), "locations-crash-"));
const over = new AbortController();
const samples: Sample[] = [];
const deaths: { readonly name: string; readonly record: RunRecord }[] = [];
/** Every run, as it ended. */
const runs: RunAnswer[] = [];
let worker: MortalWorker;

afterAll(async () => {
  await worker.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Queues a run of the source whose turn it is. */
async function queue(): Promise<string> {
  const body = { source: SOURCES[runs.length % 2], mode: "full" };
  const queued = (await worker.admin("POST", "/admin/ingest/queue", body)) as { run: RunAnswer }; // our API
  return queued.run.id;
}

/** Waits for the end of a run. */
async function ended(id: string): Promise<void> {
  const deadline = Date.now() + RUN_DEADLINE_MS;
  for (;;) {
    const run = (await worker.admin("GET", `/admin/ingest/runs/${id}`)) as RunAnswer; // our API
    if (run.state !== "queued" && run.state !== "running") return void runs.push(run);
    if (Date.now() > deadline) throw new Error(`not in time: ${JSON.stringify(run)}`);
    await sleep(100);
  }
}

/** Airports by the hash of the message that they were decoded from. */
const decoded = new Map<string, number>();

function countAirports(bytes: Uint8Array): number {
  const hash = sha256(bytes);
  const airports = decoded.get(hash) ?? fromBinary(LocationsResponseSchema, bytes).airports.length;
  decoded.set(hash, airports);
  return airports;
}

/** Asks as a client for every locale. */
async function sample(): Promise<void> {
  for (const locale of LOCALES) {
    const answer = await fetch(worker.url + CALL, {
      method: "POST",
      headers: { "content-type": "application/proto", "accept-encoding": "identity" },
      body: Uint8Array.from(requestMessage(locale)),
    });
    if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    samples.push({
      locale,
      generation: Number(answer.headers.get("catalog-version")),
      catalog_sha256: answer.headers.get("catalog-sha256") ?? "",
      bodySha256: sha256(bytes),
      airports: countAirports(bytes),
    });
  }
}

/** Asks again and again; a process that is gone gives no answer at all. */
async function sampleUntilOver(): Promise<void> {
  while (!over.signal.aborted) {
    await sample().catch((error: unknown) => {
      if (!(error instanceof TypeError)) throw error; // fetch failed
    });
    await sleep(100);
  }
}

/**
 * Puts the snapshot's airports without the first few into R2, while nobody serves from it. The last
 * ones are those that the snapshot adds to any source.
 */
function dropOtherAirports(): void {
  const text = gunzipSync(readFileSync("data/snapshot/airports.csv.gz")).toString();
  const [heading, ...rows] = text.split("\n");
  const file = join(folder, "airports.csv");
  writeFileSync(file, [heading, ...rows.slice(REMOVED_AIRPORTS)].join("\n"));
  putObject(dropKey("airports.csv"), file);
  putObject(dropKey("regions.csv.gz"), "data/snapshot/regions.csv.gz");
}

function putObject(key: string, file: string): void {
  const wrangler = "node_modules/wrangler/bin/wrangler.js";
  const args = ["r2", "object", "put", `locations-archive/${key}`, `--file=${file}`, "--local"];
  const { status, stderr } = spawnSync(
    process.execPath,
    [wrangler, ...args, `--persist-to=${folder}`],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(stderr);
}

/**
 * Kills the Worker at every place, in one run as far as it can be caught there: a run that slips
 * through ends as it should, and another one is begun.
 */
async function killEverywhere(): Promise<void> {
  let open: string | undefined;
  for (const { name, is } of PLACES)
    for (let misses = 0; ; misses++) {
      if (misses > MAX_MISSES) throw new Error(`${misses} runs slipped through ${name}`);
      const caught = worker.killWithin(is, open === undefined ? runs.at(-1)?.id : undefined);
      if (open === undefined) await queue().catch(() => undefined); // the answer may be lost
      const { killed, record } = await caught;
      if (killed) {
        deaths.push({ name, record });
        open = record.job.id;
        break;
      }
      await worker.ready();
      await ended(record.job.id);
      open = undefined;
    }
  await worker.ready();
  if (open !== undefined) await ended(open);
}

beforeAll(async () => {
  worker = new MortalWorker(folder, await freePort(), LOCALES);
  worker.boot();
  await worker.ready();
  await ended(await queue());
  await worker.stop();
  dropOtherAirports();
  worker.boot();
  await worker.ready();
  await sample();
  const clients = sampleUntilOver();
  try {
    await killEverywhere();
  } catch (error) {
    throw new Error(`after ${deaths.map(({ name }) => name).join(", ")}`, { cause: error });
  } finally {
    over.abort();
    await clients;
  }
  await worker.stop();
  worker.boot();
  await worker.ready();
  await sample();
  await worker.stop();
});

describe("a run whose process is killed in the middle of each stage", () => {
  it("was killed in every one, and in encode early and late", () => {
    expect(deaths.map(({ name }) => name)).toEqual(PLACES.map(({ name }) => name));
    expect(new Set(deaths.map(({ record }) => record.checkpoint.stage))).toEqual(new Set(STAGES));
    for (const { record } of deaths) {
      expect(record.job.state).toBe("running");
      const ofRun = deaths.filter((death) => death.record.job.id === record.job.id);
      const fences = ofRun.map((death) => death.record.fence);
      expect(fences).toEqual([...new Set(fences)].toSorted((a, b) => a - b));
    }
  });

  it("completes by itself, in one attempt, as the next generation", () => {
    for (const [index, run] of runs.entries()) {
      expect(run).toMatchObject({
        state: "succeeded",
        outcome: "published",
        source: SOURCES[index % 2],
        attempt: 1,
        error: null,
        generation_before: index === 0 ? null : index,
        generation_after: index + 1,
      });
      expect(run.progress.done).toBe(run.progress.total);
    }
    const killed = new Set(deaths.map(({ record }) => record.job.id));
    expect(runs.filter(({ id }) => killed.has(id))).toHaveLength(killed.size);
  });

  it("is one row of the history in D1, which says the same", () => {
    expect(readHistory(folder)).toMatchObject(
      runs.map(({ id, state, outcome, source, retries, generation_after }) => ({
        id,
        state,
        outcome,
        source,
        retries,
        generation_after,
      })),
    );
  });

  it("serves the old catalog or the new one all the time, whole, and the new one in the end", () => {
    expect(samples.length).toBeGreaterThan(2 * LOCALES.length);
    for (const { catalog_sha256, bodySha256, generation, airports } of samples) {
      expect(bodySha256).toBe(catalog_sha256);
      expect(airports).toBe(generation % 2 === 1 ? AIRPORTS : AIRPORTS - REMOVED_AIRPORTS);
    }
    const catalogs = samples.map(({ locale, generation, catalog_sha256 }) =>
      [locale, generation % 2, catalog_sha256].join(" "),
    );
    expect(new Set(catalogs).size).toBe(2 * LOCALES.length);
    for (const locale of LOCALES) {
      const generations = samples.filter((one) => one.locale === locale).map((s) => s.generation);
      expect(generations).toEqual(generations.toSorted((a, b) => a - b));
      expect(generations.at(0)).toBe(1);
      expect(generations.at(-1)).toBe(runs.length);
    }
  });
});
