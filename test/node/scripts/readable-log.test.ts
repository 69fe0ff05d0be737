import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { followLog, jsonLine, readableLine, workerLine } from "../../../scripts/readable-log.ts";
import { BackupWorld } from "../../builders/backup-world.ts";
import { CoordinatorWorld } from "../../builders/coordinator-world.ts";
import { MonitorWorld } from "../../builders/monitor-world.ts";

const AT = new Date(2026, 10, 26, 14, 2, 11);

/** A line as the Worker writes it. */
const logged = ({ event, fields }: { readonly event: string; readonly fields: object }) =>
  JSON.stringify({ ts: AT.toISOString(), level: "info", event, msg: event, ...fields });

/** What is shown of everything that a world has logged. */
const shown = (events: readonly { readonly event: string; readonly fields: object }[]) =>
  events.flatMap((event) => readableLine(logged(event)) ?? []);

describe("a run", () => {
  it("has a line for its start and one for its end", async () => {
    const world = new CoordinatorWorld();
    const first = await world.runToEnd();
    const second = await world.runToEnd();
    expect(shown(world.events)).toEqual([
      `14:02:11 ingest ${first.id} started (manual)`,
      `14:02:11 ingest ${first.id} succeeded: published generation 1 in 0.0 s`,
      `14:02:11 ingest ${second.id} started (manual)`,
      `14:02:11 ingest ${second.id} succeeded: unchanged in 0.0 s`,
    ]);
  });

  it("that fails says where and why, and after how long", async () => {
    const world = new CoordinatorWorld();
    await world.runToEnd();
    world.setAirports(40);
    const { id } = await world.runToEnd();
    expect(shown(world.events).at(-1)).toMatch(
      new RegExp(
        `^14:02:11 ingest ${id} failed after 0\\.0 s in stage guard: .+ \\(guard_change\\)$`,
      ),
    );
  });

  it("that is cancelled says so", () => {
    const fields = {
      run_id: "1",
      state: "cancelled",
      duration_ms: 3_210,
      outcome: null,
      generation: null,
    };
    expect(shown([{ event: "ingest_ended", fields }])).toEqual([
      "14:02:11 ingest 1 cancelled after 3.2 s",
    ]);
  });
});

describe("a backup", () => {
  it("has lines for itself and its verification", async () => {
    const world = new BackupWorld();
    await world.ingest.publishVersions(1);
    world.events.length = 0;
    const { backup_id: id } = await world.backUp();
    expect(shown(world.events)).toEqual([
      `14:02:11 backup ${id} started`,
      `14:02:11 backup ${id} succeeded in 0.0 s`,
      `14:02:11 verification of backup ${id} started`,
      `14:02:11 verification of backup ${id} succeeded in 0.0 s`,
    ]);
  });

  it("that fails says why", async () => {
    const world = new BackupWorld();
    await world.ingest.publishVersions(1);
    world.before = (call) => {
      if (call.startsWith("d1")) throw new Error("D1 is away");
    };
    await world.backUp();
    expect(shown(world.events).at(-1)).toMatch(
      /^14:02:11 backup \S+ failed after .* s: .*D1 is away.* \(store_fault\)$/,
    );
  });
});

describe("an evaluation", () => {
  it("has lines if it changed something, for each alert and for all", async () => {
    const world = new MonitorWorld();
    await world.tick();
    expect(shown(world.logged)).toEqual([]);
    world.compared(31);
    await world.tick();
    expect(shown(world.logged)).toEqual([
      expect.stringMatching(/^14:02:11 alert catalog_stale: inactive → firing: .+/),
      "14:02:11 alerts evaluated: 1 fired, 0 resolved, 1 firing",
    ]);
  });
});

it.each([
  "",
  "[wrangler:info] Ready on http://127.0.0.1:8787",
  "{",
  "null",
  '{"ts":"now","event":"backup_started","kind":"run","backup_id":"1"}',
  logged({ event: "ingest_step", fields: { run_id: "1" } }),
  logged({ event: "ingest_started", fields: {} }),
])("nothing is shown of the line %s", (line) => {
  expect(readableLine(line)).toBeUndefined();
});

it("no message reaches the terminal with what controls it, or at any length", () => {
  const error = { code: "x", message: `\u001B[2Jgone\nnext${"x".repeat(5_000)}` };
  const fields = { kind: "run", backup_id: "1", state: "failed", duration_ms: 1, error };
  const [line = ""] = shown([{ event: "backup_ended", fields }]);
  expect(line).toMatch(/^14:02:11 backup 1 failed after 0\.0 s: {2}\[2Jgone nextx+$/);
  expect(line.length).toBeLessThan(1_100);
});

describe("followLog", () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "locations-log-"));
    file = join(folder, "worker.log");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const started = (run_id: string) =>
    logged({ event: "ingest_started", fields: { run_id, trigger: "é" } });

  it("shows each added line once, from the start of a new file", async () => {
    const lines: string[] = [];
    const stop = followLog(file, readableLine, (line) => lines.push(line));
    writeFileSync(file, `${started("1")}\nWrangler says something\n`);
    await expect.poll(() => lines).toEqual(["14:02:11 ingest 1 started (é)"]);
    appendFileSync(file, `${started("2")}\n`);
    stop();
    expect(lines).toEqual(["14:02:11 ingest 1 started (é)", "14:02:11 ingest 2 started (é)"]);
  });

  it("shows nothing of what an earlier start has left, and waits for the rest of a line", async () => {
    writeFileSync(file, `${started("1")}\n`);
    const lines: string[] = [];
    const stop = followLog(file, readableLine, (line) => lines.push(line));
    const bytes = Buffer.from(`${started("2")}\n${"x".repeat(200_000)}\n${started("3")}\n`);
    const inside = bytes.indexOf("é") + 1;
    appendFileSync(file, bytes.subarray(0, inside));
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(lines).toEqual([]);
    appendFileSync(file, bytes.subarray(inside));
    stop();
    expect(lines).toEqual(["14:02:11 ingest 2 started (é)", "14:02:11 ingest 3 started (é)"]);
  });

  it("goes on after the file was emptied", async () => {
    writeFileSync(file, `${"x".repeat(500)}\n`);
    const lines: string[] = [];
    const stop = followLog(file, readableLine, (line) => lines.push(line));
    writeFileSync(file, `${started("1")}\n`);
    stop();
    expect(lines).toEqual(["14:02:11 ingest 1 started (é)"]);
  });
});

it("a message of workerd about the Worker is a line of JSON, as with --json", () => {
  const uncaught = "uncaught Error: later\n    at worker.js:1:1";
  const line = workerLine("error", uncaught);
  expect(jsonLine(line)).toBe(line);
  expect(JSON.parse(line)).toMatchObject({ level: "error", msg: uncaught });
  const own = logged({ event: "ingest_started", fields: {} });
  expect(workerLine("info", own)).toBe(own);
});
