import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CommandError } from "../../scripts/command.ts";
import { LocalWorker } from "../../scripts/local-worker.ts";
import type { JobState, BackupStage } from "../../src/backup/job.ts";
import { CALL, sha256 } from "../system/http.ts";
import { freePort } from "../system/running-service.ts";
import { requestMessage } from "../system/wire.ts";
import { readHistory } from "./coordinator-record.ts";
import { findWorkerGroup } from "./worker-group.ts";

/** What `GET /admin/backup/jobs/{id}` answers, as far as it is looked at here. */
interface JobAnswer {
  readonly id: string;
  readonly backup_id: string;
  readonly state: JobState;
  readonly stage: BackupStage | null;
  readonly verdict: string | null;
  readonly generation: number | null;
  readonly undo_backup_id: string | null;
  readonly error: unknown;
}

/** Bounds a hang only. */
const JOB_DEADLINE_MS = 900_000;
const token = randomBytes(32).toString("base64url");
const root = mkdtempSync(join(tmpdir(), "locations-backup-crash-"));
const home = join(root, "home");
let port: number;
let worker: LocalWorker | undefined;
let samples: readonly string[] = [];
const over = new AbortController();

afterAll(async () => {
  await worker?.stop();
  rmSync(root, { recursive: true, force: true });
});

async function start(stateFolder: string): Promise<void> {
  const digest = createHash("sha256").update(token).digest("hex");
  worker = await LocalWorker.start({
    port,
    locales: "en",
    stateFolder,
    fresh: false,
    adminTokens: JSON.stringify([{ id: "crash", sha256: digest, scopes: ["read", "operate"] }]),
    say: () => undefined,
    signal: new AbortController().signal,
  });
}

async function admin<T>(method: string, path: string, body?: object): Promise<T> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

const findJob = (id: string) => admin<JobAnswer>("GET", `/admin/backup/jobs/${id}`);

async function jobWhen(id: string, is: (job: JobAnswer) => boolean): Promise<JobAnswer> {
  for (const deadline = Date.now() + JOB_DEADLINE_MS; Date.now() < deadline; await sleep(5)) {
    const job = await findJob(id);
    if (is(job)) return job;
  }
  throw new Error(`not in time: ${JSON.stringify(await findJob(id))}`);
}

const hasEnded = ({ state }: JobAnswer) => state === "succeeded" || state === "failed";

async function ingestOnce(body: object = {}): Promise<void> {
  const { run } = await admin<{ run: { id: string } }>("POST", "/admin/ingest/queue", body);
  for (const deadline = Date.now() + JOB_DEADLINE_MS; Date.now() < deadline; await sleep(100)) {
    const { state } = await admin<{ state: string }>("GET", `/admin/ingest/runs/${run.id}`);
    if (state === "succeeded") return;
    if (state === "failed") throw new Error("the ingest failed");
  }
  throw new Error("the ingest does not end");
}

/**
 * Begins a job, kills the process in one of some stages, and starts it again on the same storage.
 * Begins another job where a slow look from outside has missed the stages.
 */
async function crashIn(stages: readonly BackupStage[], path: string): Promise<JobAnswer> {
  const isThere = ({ stage }: JobAnswer) => stage !== null && stages.includes(stage);
  const { job } = await admin<{ job: JobAnswer }>("POST", path, {});
  const seen = await jobWhen(job.id, (each) => isThere(each) || hasEnded(each));
  if (seen.state === "failed") throw new Error(`it failed: ${JSON.stringify(seen)}`);
  if (seen.state === "succeeded") return crashIn(stages, path);
  const group = findWorkerGroup();
  if (group === undefined) throw new Error("there is no Worker");
  process.kill(-group, "SIGKILL");
  await worker?.stop(); // lets go of the folder
  await startAgain();
  return jobWhen(job.id, hasEnded);
}

/** Starts the Worker as soon as the port is free of the one that was killed. */
async function startAgain(): Promise<void> {
  for (const deadline = Date.now() + JOB_DEADLINE_MS; ; await sleep(200)) {
    try {
      return await start(home);
    } catch (error) {
      const isLeaving = error instanceof CommandError && error.message.includes("is taken");
      if (!isLeaving || Date.now() > deadline) throw error;
    }
  }
}

/** What a client gets: the SHA-256 of the body, which the answer names itself. */
async function served(): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}${CALL}`, {
    method: "POST",
    headers: { "content-type": "application/proto", "accept-encoding": "identity" },
    body: Uint8Array.from(requestMessage("en")),
  });
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  const hash = sha256(new Uint8Array(await answer.arrayBuffer()));
  expect(answer.headers.get("catalog-sha256")).toBe(hash);
  return hash;
}

/** Asks again and again; a process that is gone gives no answer at all. */
async function sampleUntilOver(): Promise<void> {
  while (!over.signal.aborted) {
    const sample = await served().catch((error: unknown) => {
      if (error instanceof TypeError) return undefined; // fetch failed
      throw error;
    });
    if (sample !== undefined) samples = [...new Set([...samples, sample])];
    await sleep(100);
  }
}

async function rowsArrived(): Promise<void> {
  const isEnded = (row: unknown) => (row as { state: string }).state === "succeeded"; // a column
  for (let rows: unknown[] = []; !rows.some(isEnded); await sleep(100)) rows = readHistory(home);
}

/** In which stages to kill. */
const KILLED_BACKUPS: readonly (readonly BackupStage[])[] = [
  ["copy_state", "copy_tables", "copy_objects", "write_manifest"],
  ["check_parts", "check_objects", "check_catalog", "rebuild"],
];
const KILLED_RESTORES: readonly (readonly BackupStage[])[] = [
  ["check_parts", "check_objects", "check_catalog", "rebuild", "compare_schema"],
  ["copy_state", "copy_tables", "copy_objects", "write_manifest"],
  ["restore_objects", "restore_tables", "replace_versions", "settle"],
];

const made: JobAnswer[] = [];
const restored: { readonly job: JobAnswer; rows: readonly unknown[]; summary: unknown }[] = [];
let before: { readonly rows: readonly unknown[]; readonly hash: string };

beforeAll(async () => {
  port = await freePort();
  await start(home);
  await ingestOnce();
  await admin("POST", "/admin/ingest/pause", { note: "holidays" });
  await rowsArrived();
  before = { rows: readHistory(home), hash: await served() };
  const clients = sampleUntilOver();
  try {
    for (const stages of KILLED_BACKUPS) made.push(await crashIn(stages, "/admin/backup/run"));
    for (const [index, stages] of KILLED_RESTORES.entries()) {
      await admin("POST", "/admin/ingest/resume", {});
      await ingestOnce({ mode: "dry_run" });
      const job = await crashIn(
        stages,
        `/admin/backup/${made[index % made.length]?.backup_id}/restore`,
      );
      const summary = await admin("GET", "/dashboard/summary");
      restored.push({ job, summary, rows: readHistory(home) });
    }
  } finally {
    over.abort();
    await clients;
  }
});

describe("a backup whose process is killed in the middle", () => {
  it.each(KILLED_BACKUPS.map((stages, index) => [index, stages.join()] as const))(
    "(%i: in %s) is whole and proved in the end",
    (index) => {
      const job = { state: "succeeded", verdict: "verified", error: null };
      expect(made[index]).toMatchObject(job);
    },
  );
});

describe("a restore whose process is killed in the middle", () => {
  it.each(KILLED_RESTORES.map((stages, index) => [index, stages.join()] as const))(
    "(%i: in %s) is done in the end: no row of the history is lost, and the pause is back",
    (index) => {
      const { job } = restored[index] ?? {};
      expect(job).toMatchObject({ state: "succeeded", error: null });
      expect(job?.generation).toBeGreaterThan(restored[index - 1]?.job.generation ?? 1);
      expect(restored[index]?.rows).toEqual(expect.arrayContaining([...before.rows]));
      expect(restored[index]?.summary).toMatchObject({ ingest: { paused: true } });
    },
  );

  it("serves whole bodies all the while", () => {
    expect(samples).toEqual([before.hash]);
  });
});
