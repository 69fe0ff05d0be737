import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import { LocalWorker } from "../../scripts/local-worker.ts";
import type { RunRecord } from "../../src/ingest/coordinator-state.ts";
import { isOpen, type Stage } from "../../src/ingest/run.ts";
import { dropKey } from "../../src/storage/keys.ts";
import { CALL, sha256 } from "../system/http.ts";
import { freePort } from "../system/running-service.ts";
import { requestMessage } from "../system/wire.ts";

/** What `GET /admin/ingest/runs/{id}` answers, as far as it is looked at here. */
interface RunAnswer {
  readonly id: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly stage: Stage | null;
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
  readonly generation: string;
  readonly catalogSha256: string;
  /** Of the bytes that were received. */
  readonly bodySha256: string;
  readonly airports: number;
}

/** Where the process was killed. */
interface Death {
  readonly stage: Stage;
  readonly state: string;
  readonly done: number;
  readonly fence: number;
}

const LOCALES = ["en", "de"];
const REMOVED_AIRPORTS = 3;
const AIRPORTS = 9074;
const RUN_DEADLINE_MS = 60_000;
/** How long the Worker runs between two looks at its storage. */
const SLICE_MS = 2;
const token = randomBytes(32).toString("base64url");
const folder = mkdtempSync(join(tmpdir(), "locations-crash-"));
const samples: Sample[] = [];
const deaths: Death[] = [];
let port: number;
let worker: LocalWorker | undefined;
/** Settles when the Worker answers, or has been killed before it does. */
let booting: Promise<void>;
const over = new AbortController();
let runId: string;
let run: RunAnswer;

afterAll(async () => {
  await booting;
  await worker?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<LocalWorker> {
  const digest = createHash("sha256").update(token).digest("hex");
  return LocalWorker.start({
    port,
    locales: LOCALES.join(","),
    stateFolder: folder,
    fresh: false,
    adminTokens: JSON.stringify([{ id: "crash", sha256: digest, scopes: ["read", "operate"] }]),
    say: () => undefined,
    signal: new AbortController().signal,
  });
}

async function admin(method: string, path: string, body?: object): Promise<unknown> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

async function queue(body: object): Promise<string> {
  const queued = (await admin("POST", "/admin/ingest/queue", body)) as { run: RunAnswer }; // our API
  return queued.run.id;
}

async function findRun(): Promise<RunAnswer> {
  return (await admin("GET", `/admin/ingest/runs/${runId}`)) as RunAnswer; // our API
}

/** Waits for the end of the run. */
async function ended(): Promise<RunAnswer> {
  const deadline = Date.now() + RUN_DEADLINE_MS;
  for (;;) {
    const seen = await findRun();
    if (seen.state !== "queued" && seen.state !== "running") return seen;
    if (Date.now() > deadline) throw new Error(`not in time: ${JSON.stringify(seen)}`);
    await sleep(100);
  }
}

/** Rows of D1, oldest first, once nothing is running. */
function historyRows(): unknown[] {
  const storage = join(folder, "v3", "d1", "miniflare-D1DatabaseObject");
  return readdirSync(storage)
    .filter((name) => name.endsWith(".sqlite") && name !== "metadata.sqlite")
    .flatMap((name) => {
      const database = new DatabaseSync(join(storage, name), { readOnly: true });
      try {
        return database.prepare("SELECT * FROM ingest_runs ORDER BY id").all();
      } finally {
        database.close();
      }
    });
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
    const answer = await fetch(`http://127.0.0.1:${port}${CALL}`, {
      method: "POST",
      headers: { "content-type": "application/proto", "accept-encoding": "identity" },
      body: Uint8Array.from(requestMessage(locale)),
    });
    if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    samples.push({
      locale,
      generation: answer.headers.get("catalog-version") ?? "",
      catalogSha256: answer.headers.get("catalog-sha256") ?? "",
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

/** Puts the snapshot's airports without the last few into R2, while nobody serves from it. */
function dropOtherAirports(): void {
  const lines = gunzipSync(readFileSync("data/snapshot/airports.csv.gz")).toString().split("\n");
  const file = join(folder, "airports.csv");
  writeFileSync(file, `${lines.slice(0, -1 - REMOVED_AIRPORTS).join("\n")}\n`);
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

/** What the coordinator has stored of the newest run, from a copy; undefined if nothing can be read. */
function readRecord(): RunRecord | undefined {
  const storage = join(folder, "v3", "do", "locations-IngestCoordinator");
  const copy = mkdtempSync(join(tmpdir(), "locations-frozen-"));
  try {
    for (const name of readdirSync(storage).filter((file) => !file.endsWith("-shm")))
      copyFileSync(join(storage, name), join(copy, name));
    const [record] = readdirSync(copy)
      .filter((name) => name.endsWith(".sqlite"))
      .flatMap((name) => selectRecord(join(copy, name)));
    return record;
  } catch {
    return undefined; // copied in the middle of a write
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function selectRecord(file: string): RunRecord[] {
  const database = new DatabaseSync(file);
  try {
    const hasRuns = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'runs'").get();
    if (hasRuns === undefined) return [];
    const rows = database.prepare("SELECT record FROM runs ORDER BY id DESC LIMIT 1").all();
    return rows.map((row) => JSON.parse(String(row["record"])));
  } finally {
    database.close();
  }
}

/** The process group of the Worker, once there is one. */
async function workerGroup(): Promise<number> {
  for (;;) {
    const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" });
    for (const line of stdout.split("\n")) {
      const [, pid, parent, args = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
      if (Number(parent) === process.pid && args.includes("wrangler.js dev")) return Number(pid);
    }
    await sleep(20);
  }
}

/**
 * Kills the Worker in the middle of a step that `is` wants, and starts it again on the same
 * storage. At the beginning and towards the end, where steps are short, it runs for moments only
 * between two looks.
 */
async function crashWithin(is: (record: RunRecord) => boolean): Promise<void> {
  process.stderr.write(`${Date.now() % 1e6} looking\n`);
  const group = await workerGroup();
  process.stderr.write(`${Date.now() % 1e6} group ${group}\n`);
  let looks = 0;
  const isThere = (record: RunRecord | undefined): record is RunRecord =>
    record !== undefined && record.leaseUntil !== null && is(record);
  const deadline = Date.now() + RUN_DEADLINE_MS;
  for (;;) {
    const t0 = performance.now();
    const hint = readRecord();
    if (looks++ % 100 === 0)
      process.stderr.write(
        `${Date.now() % 1e6} ${hint?.run.state} ${hint?.checkpoint.stage} ${hint?.run.progress.done} ${performance.now() - t0}\n`,
      );
    const hasEnded = hint !== undefined && !isOpen(hint.run.state);
    if (hasEnded && deaths.length > 0) throw new Error("it has ended already");
    const { done = 0, total = 0 } = hint?.run.progress ?? {};
    if (hasEnded || isThere(hint) || (total > 0 && done >= total - 1)) {
      process.kill(-group, "SIGSTOP");
      const record = readRecord();
      if (isThere(record)) {
        const { checkpoint, run: seen, fence } = record;
        process.stderr.write(
          `${Date.now() % 1e6} dead ${checkpoint.stage} ${seen.progress.done}\n`,
        );
        deaths.push({
          stage: checkpoint.stage,
          state: seen.state,
          done: seen.progress.done,
          fence,
        });
        break;
      }
      process.kill(-group, "SIGCONT");
    }
    if (Date.now() > deadline) throw new Error("it did not come there in time");
    await sleep(SLICE_MS);
  }
  process.kill(-group, "SIGKILL");
  await booting;
  await worker?.stop(); // lets go of the folder
  worker = undefined;
  boot();
}

/** Starts the Worker, which may be killed before it answers. */
function boot(): void {
  booting = start().then(
    (started) => void (worker = started),
    () => undefined,
  );
}

const inStage = (stage: Stage) => (record: RunRecord) => record.checkpoint.stage === stage;

beforeAll(async () => {
  port = await freePort();
  boot();
  await booting;
  runId = await queue({});
  await ended();
  await worker?.stop();
  dropOtherAirports();
  boot();
  await booting;
  await sample();
  const clients = sampleUntilOver();
  try {
    const crash = crashWithin(inStage("fetch"));
    await queue({ source: "dropped", mode: "full" }).catch(() => undefined); // the answer may be lost
    await crash;
    for (const stage of ["parse", "build", "guard", "encode"] as const)
      await crashWithin(inStage(stage));
    await crashWithin(({ checkpoint }) => Object.keys(checkpoint.entries).length === 1);
    for (const stage of ["publish", "verify"] as const) await crashWithin(inStage(stage));
    await booting;
    runId = readRecord()?.run.id ?? "";
    run = await ended();
  } catch (error) {
    throw new Error(`after ${JSON.stringify(deaths)}`, { cause: error });
  } finally {
    over.abort();
    await clients;
  }
  await worker?.stop();
  boot();
  await booting;
  await sample();
});

describe("a run whose process is killed in the middle of each stage", () => {
  it("was killed in every one, and in encode early and late", () => {
    expect(deaths.map(({ stage }) => stage)).toEqual([
      "fetch",
      "parse",
      "build",
      "guard",
      "encode",
      "encode",
      "publish",
      "verify",
    ]);
    for (const { state } of deaths) expect(state).toBe("running");
    const fences = deaths.map(({ fence }) => fence);
    expect(fences).toEqual(fences.toSorted((a, b) => a - b));
    expect(deaths[4]?.done).toBeLessThan(deaths[5]?.done ?? 0);
  });

  it("completes by itself, in one attempt, as the next generation", () => {
    expect(run).toMatchObject({
      state: "succeeded",
      outcome: "published",
      attempt: 1,
      error: null,
      generation_before: 1,
      generation_after: 2,
    });
    expect(run.progress.done).toBe(run.progress.total);
  });

  it("is one row of the history in D1, which says the same", () => {
    expect(historyRows()).toMatchObject([
      { state: "succeeded", outcome: "published", source: "embedded", generation_after: 1 },
      {
        id: run.id,
        state: "succeeded",
        outcome: "published",
        source: "dropped",
        generation_after: 2,
        retries: run.retries,
      },
    ]);
  });

  it("serves the old catalog or the new one all the time, whole, and the new one in the end", () => {
    for (const { catalogSha256, bodySha256 } of samples) expect(bodySha256).toBe(catalogSha256);
    const served = new Set(
      samples.map(({ locale, generation, catalogSha256, airports }) =>
        [locale, generation, catalogSha256, airports].join(" "),
      ),
    );
    const [oldEnglish, oldGerman] = samples;
    const [newEnglish, newGerman] = samples.slice(-2);
    expect(served).toEqual(
      new Set([
        `en 1 ${oldEnglish?.catalogSha256} ${AIRPORTS}`,
        `de 1 ${oldGerman?.catalogSha256} ${AIRPORTS}`,
        `en 2 ${newEnglish?.catalogSha256} ${AIRPORTS - REMOVED_AIRPORTS}`,
        `de 2 ${newGerman?.catalogSha256} ${AIRPORTS - REMOVED_AIRPORTS}`,
      ]),
    );
    expect(new Set(samples.map(({ catalogSha256 }) => catalogSha256)).size).toBe(4);
  });
});
