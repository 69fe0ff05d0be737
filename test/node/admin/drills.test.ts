/** What docs/operating.md advises when something is wrong, done over HTTP as it says. */
import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { BackupJob } from "../../../src/schemas/backup-job.ts";
import type { Run } from "../../../src/schemas/run.ts";
import { readCredentials } from "../../../src/platform/credentials.ts";
import { StoreError } from "../../../src/platform/deadline.ts";
import { AdminWorld } from "../../builders/admin-world.ts";
import { BackupWorld } from "../../builders/backup-world.ts";
import { startEachFrom } from "../../builders/coordinator-world.ts";
import { HOUR_MS } from "../../builders/facts.ts";

/** The test of each case by its title, and by its file unless it is a drill below. */
const DRILLS: { readonly [name: string]: string | readonly [file: string, title: string] } = {
  "The catalog is wrong":
    "pause, roll back and resume, and the next ingest with other content publishes",
  "A run failed with `guard_…`": "approve what guards refused",
  "`catalog:present` fails":
    "restore the newest backup when every manifest and blob is lost, though ingestion is paused",
  "`catalog:integrity` fails":
    "restore the newest backup when every copy is lost, though ingestion is paused",
  "409 or a run that fails: `foreign_stores`":
    "take the stores over when the coordinator has lost its state, and publish again",
  "503 `not_shown`": [
    "test/node/admin/alert-drills.test.ts",
    "is named in the log, and ends half a minute after the store accepts the manifest",
  ],
  "503 `other_version`": [
    "test/crash/gradual.test.ts",
    "serves, while the objects are of the present version, which refuses every change by name",
  ],
  "`rule:…` warns or fails": "see which rule fails, and do what its section says",
  "`monitor:evaluation` fails": "evaluate by hand when the rules were not evaluated in time",
  "A restore makes no progress": [
    "test/node/backup/crash.sweep.test.ts",
    "finishes the restore when KV answers again",
  ],
  "A backup job is `cancelled`":
    "repeat the request of a cancelled job when the job before it can succeed",
  "`coordinator` does not answer in time": [
    "test/node/admin/monitor/monitor-routes.test.ts",
    "only warns while a step keeps the coordinator busy",
  ],
  "503 `coordinator_unavailable`":
    "repeat a call whose answer was lost, which starts nothing twice",
  "503 `backups_unavailable`": "repeat a call about backups when R2 answers again",
  "503 `archive_unavailable`": "repeat an approval when R2 answers again about upstream files",
  "503 `history_unavailable`, or `d1` fails":
    "ingest while D1 is down, and reads the run there afterwards",
  "503 `admin_misconfigured`": "correct the credentials as the log says",
};

it("every case of the page has a drill", () => {
  const [, section = ""] = readFileSync("docs/operating.md", "utf8").split(/^## /m);
  const cases = [...section.matchAll(/^- \*\*(.+?)\*\*: /gm)].map(([, name]) => name);
  expect(cases).toEqual(Object.keys(DRILLS));
  for (const drill of Object.values(DRILLS)) {
    const [file, title] = typeof drill === "string" ? [import.meta.filename, drill] : drill;
    expect(readFileSync(file, "utf8")).toContain(`  it("${title}", `);
  }
});

const installation = new BackupWorld(undefined, ["en"]);
startEachFrom(installation, () => new AdminWorld(installation).ingest.publishVersions(2));
let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld(installation);
});

const get = async <T>(path: string) => (await world.request(path)).json<T>();

async function post<T>(path: string, body: object = {}, headers = {}): Promise<T> {
  const answer = await world.post(path, body, headers);
  expect(answer.ok).toBe(true);
  return answer.json<T>();
}

const runOf = (id: string) => get<Run>(`/admin/ingest/runs/${id}`);
const jobOf = (id: string) => get<BackupJob>(`/admin/backup-jobs/${id}`);
const health = () => get("/catalog/health");
async function whatFailed(): Promise<string> {
  const { answers } = await get<{ answers: { question: string }[] }>("/admin/monitor/status");
  return JSON.stringify(answers.find(({ question }) => question === "failed"));
}
const isServed = { checks: { "catalog:integrity": [{ status: "pass" }] } };

describe("an operator can", () => {
  it("pause, roll back and resume, and the next ingest with other content publishes", async () => {
    await post("/admin/ingest/pause", { note: "bad names" });
    await post("/admin/catalog/rollback", { generation: 1 });
    await world.ingest.drain();
    expect(await health()).toMatchObject({ generation: 3, ...isServed });
    world.ingest.renameAirport("Fixed");
    const { run } = await post<{ run: Run }>("/admin/ingest/resume", { run_now: true });
    await world.ingest.drain();
    expect(await runOf(run.id)).toMatchObject({ outcome: "published", generation_after: 4 });
  });

  it("approve what guards refused", async () => {
    world.ingest.setAirports(40);
    const refused = await world.ingest.runToEnd();
    expect(await runOf(refused.id)).toMatchObject({ error: { code: "guard_change" } });
    const body = { candidate_of: refused.id, force: true };
    const { run } = await post<{ run: Run }>("/admin/ingest/queue", body);
    await world.ingest.drain();
    expect(await runOf(run.id)).toMatchObject({ outcome: "published" });
  });

  it("restore the newest backup when every copy is lost, though ingestion is paused", async () => {
    await world.installation.backUp();
    const { locales } = await get<{ locales: object }>("/catalog/health");
    await post("/admin/ingest/pause", { note: "restored before" });
    world.installation.blobs().forEach((blob) => world.installation.loseBlob(blob));
    expect(await health()).toMatchObject({
      output: expect.stringContaining("restore the newest backup"),
    });
    const { backups } = await get<{ backups: { id: string }[] }>("/admin/backup/list");
    const { job } = await post<{ job: BackupJob }>(`/admin/backup/${backups[0]?.id}/restore`);
    await world.ingest.drain();
    expect(await jobOf(job.id)).toMatchObject({ state: "succeeded" });
    expect(await health()).toMatchObject({ ...isServed, locales });
  });

  it("restore the newest backup when every manifest and blob is lost, though ingestion is paused", async () => {
    await world.installation.backUp();
    const { locales } = await get<{ locales: object }>("/catalog/health");
    await post("/admin/ingest/pause", { note: "restored before" });
    for (const replica of ["kv", "r2"] as const) world.ingest.store[replica].clear();
    expect(await health()).toMatchObject({
      checks: {
        "catalog:present": [
          { output: expect.stringContaining("restore the newest backup, also during a pause") },
        ],
      },
    });
    world.ingest.time += 300_000;
    await world.ingest.coordinator.reconcile();
    await world.ingest.drain();
    expect(await health()).toMatchObject({
      checks: {
        "catalog:present": [{ status: "pass" }],
        "catalog:integrity": [{ output: expect.stringContaining("restore the newest backup") }],
      },
    });
    const { backups } = await get<{ backups: { id: string }[] }>("/admin/backup/list");
    const { job } = await post<{ job: BackupJob }>(`/admin/backup/${backups[0]?.id}/restore`);
    await world.ingest.drain();
    expect(await jobOf(job.id)).toMatchObject({ state: "succeeded" });
    expect(await health()).toMatchObject({ ...isServed, locales });
  });

  it("see that D1 has lost its rows, although its tables are there again, and restore them", async () => {
    const { backup_id } = await world.installation.backUp();
    const { database } = world.d1;
    const runs = () => database.prepare("SELECT id FROM ingest_runs ORDER BY id").all();
    const before = runs();
    database.exec("DELETE FROM ingest_runs");
    await world.ingest.coordinator.reconcile();
    await world.ingest.drain();
    expect(runs()).toEqual(before);
    expect(await whatFailed()).toMatch(/D1 had lost rows.*alerts#history_lost/);
    await post(`/admin/backup/${backup_id}/restore`);
    await world.ingest.drain();
    expect(await whatFailed()).not.toContain("history_lost");
  });

  it("see at once, without an evaluation, that the coordinator has lost its state", async () => {
    await world.evaluate();
    expect(await whatFailed()).not.toContain("foreign_stores");
    world.ingest.loseTables();
    expect(await whatFailed()).toMatch(/POST \/admin\/catalog\/take-over.*alerts#foreign_stores/);
    await post("/admin/catalog/take-over");
    await world.ingest.drain();
    expect(await whatFailed()).not.toContain("foreign_stores");
  });

  it("take the stores over when the coordinator has lost its state, and publish again", async () => {
    const { backup_id } = await world.installation.backUp();
    world.ingest.loseTables();
    world.ingest.renameAirport("After the takeover");
    const refused = await post<{ run: Run }>("/admin/ingest/queue");
    await world.ingest.drain();
    expect(await runOf(refused.run.id)).toMatchObject({ error: { code: "foreign_stores" } });
    for (const [path, body] of [
      ["/admin/catalog/rollback", { generation: 1 }],
      ["/admin/backup/run", {}],
      [`/admin/backup/${backup_id}/restore`, {}],
    ] as const) {
      const answer = await world.post(path, body);
      expect([answer.status, await answer.json()]).toMatchObject([409, { code: "foreign_stores" }]);
    }
    expect(await post("/admin/catalog/take-over")).toMatchObject({
      version: { generation: 3 },
      message: expect.stringContaining("then POST /admin/ingest/resume"),
    });
    const { run } = await post<{ run: Run }>("/admin/ingest/resume", { run_now: true });
    await world.ingest.drain();
    expect(await runOf(run.id)).toMatchObject({ outcome: "published", generation_after: 4 });
  });

  it("see which rule fails, and do what its section says", async () => {
    await world.makeHealthy();
    const rule = async () => {
      await world.evaluate();
      const { checks } = await get<{ checks: object }>("/admin/monitor/status");
      return Reflect.get(checks, "rule:backup_stale");
    };
    expect(await rule()).toMatchObject([{ status: "pass" }]);
    world.ingest.time += 27 * HOUR_MS;
    expect(await rule()).toMatchObject([{ status: "fail" }]);
    const [, section = ""] = readFileSync("docs/alerts.md", "utf8").split("### `backup_stale`");
    const [, path = ""] = /make a backup \(`POST ([^`]+)`\)/.exec(section) ?? [];
    await post(path);
    await world.ingest.drain();
    expect(await rule()).toMatchObject([{ status: "pass" }]);
  });

  it("repeat a call about backups when R2 answers again", async () => {
    const { backup_id } = await world.installation.backUp();
    const path = `/admin/backup/${backup_id}/pin`;
    world.backups.before = () => {
      throw new Error("R2 is away");
    };
    const answer = await world.post(path, {});
    expect([answer.status, await answer.json()]).toMatchObject([
      503,
      { code: "backups_unavailable", detail: expect.stringContaining("safe to try again") },
    ]);
    expect(await health()).toMatchObject(isServed);
    world.backups.before = () => {};
    expect(await post(path)).toMatchObject({ changed: true });
    expect(await get("/admin/backup/list")).toMatchObject({
      backups: [{ id: backup_id, pinned: true }],
    });
  });

  it("repeat an approval when R2 answers again about upstream files", async () => {
    world.ingest.setAirports(40);
    const refused = await world.ingest.runToEnd();
    const body = { candidate_of: refused.id, force: true };
    world.ingest.before = (call) => {
      if (call.startsWith("archive")) throw new StoreError("R2 is away");
    };
    const answer = await world.post("/admin/ingest/queue", body);
    expect([answer.status, await answer.json()]).toMatchObject([
      503,
      { code: "archive_unavailable", detail: expect.stringContaining("Nothing was queued") },
    ]);
    expect(await get("/admin/ingest/queue")).toMatchObject({ queued: [] });
    world.ingest.before = () => {};
    const { run } = await post<{ run: Run }>("/admin/ingest/queue", body);
    await world.ingest.drain();
    expect(await runOf(run.id)).toMatchObject({ outcome: "published" });
  });

  it("correct the credentials as the log says", async () => {
    const right = world.credentials;
    const lines: string[] = [];
    const logged = vi.spyOn(console, "log").mockImplementation((line) => void lines.push(line));
    const broken = { ADMIN_TOKENS: '[{"id":"ops","sha256":"abc","scopes":["operate"]}]' };
    world.credentials = readCredentials(broken);
    const answer = await world.request("/admin/ingest/queue");
    logged.mockRestore();
    expect([answer.status, await answer.json()]).toMatchObject([
      503,
      { code: "admin_misconfigured" },
    ]);
    expect(lines.join("")).toMatch(/"admin_misconfigured".*ADMIN_TOKENS.*64 lower-case hex digits/);
    expect(await health()).toMatchObject(isServed);
    world.credentials = right;
    expect((await world.request("/admin/ingest/queue")).ok).toBe(true);
  });

  it("evaluate by hand when the rules were not evaluated in time", async () => {
    await world.makeHealthy();
    world.ingest.time += 3_600_000;
    const late = await get<{ output: string }>("/admin/monitor/status");
    expect(late.output).toContain("monitor:evaluation: the rules were last evaluated");
    world.monitor.time = world.ingest.time;
    await post("/admin/alerts/run");
    const { checks } = await get<{ checks: object }>("/admin/monitor/status");
    expect(checks).toMatchObject({ "monitor:evaluation": [{ status: "pass" }] });
  });

  it("repeat the request of a cancelled job when the job before it can succeed", async () => {
    const { backup_id } = await world.installation.backUp();
    const restore = async () => {
      const { job } = await post<{ job: BackupJob }>(`/admin/backup/${backup_id}/restore`);
      await world.ingest.drain();
      return jobOf(job.id);
    };
    world.installation.before = (call) => {
      if (call.startsWith("d1")) throw new Error("D1 is away");
    };
    expect(await restore()).toMatchObject({
      state: "cancelled",
      error: { message: expect.stringContaining("D1 is away") },
    });
    world.installation.before = () => {};
    expect(await restore()).toMatchObject({ state: "succeeded" });
  });

  it("repeat a call whose answer was lost, which starts nothing twice", async () => {
    const { backup_id } = await world.installation.backUp();
    const { coordinator } = world.ingest;
    const lost = coordinator.restoreBackup.bind(coordinator);
    coordinator.restoreBackup = async (...args) => {
      await lost(...args);
      throw new Error("the object was reset");
    };
    const path = `/admin/backup/${backup_id}/restore`;
    const key = { "idempotency-key": "a" };
    const answer = await world.post(path, {}, key);
    expect(await answer.json()).toMatchObject({ code: "coordinator_unavailable" });
    coordinator.restoreBackup = lost;
    expect(await post(path, {}, key)).toMatchObject({ changed: false });
    expect(coordinator.jobs().filter(({ kind }) => kind === "restore")).toHaveLength(1);
  });

  it("ingest while D1 is down, and reads the run there afterwards", async () => {
    world.breakD1();
    world.ingest.renameAirport("While D1 is down");
    const { run } = await post<{ run: Run }>("/admin/ingest/queue");
    await world.ingest.drain(() => world.ingest.run(run.id).state === "succeeded");
    expect((await world.request("/admin/ingest/runs")).status).toBe(503);
    expect(await health()).toMatchObject({ generation: 3, ...isServed });
    world.d1.before = () => {};
    await world.ingest.drain();
    expect(await get("/admin/ingest/runs?limit=1")).toMatchObject({
      runs: [{ id: run.id, outcome: "published" }],
    });
  });
});
