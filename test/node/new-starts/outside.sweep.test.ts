import { describe, expect, it } from "vitest";
import type { BackupManifest } from "../../../src/backup/format.ts";
import { CRON_JOBS, cronJob } from "../../../src/coordinator/schedule.ts";
import { droppedUpstream } from "../../../src/sources/dropped-upstream.ts";
import { HTTP_DEADLINE_MS, httpUpstream } from "../../../src/sources/http-upstream.ts";
import { embeddedUpstream } from "../../../src/sources/upstream.ts";
import { createDropBox } from "../../../src/storage/source-archive.ts";
import { dropKey, backupManifestKey } from "../../../src/storage/keys.ts";
import { HostileTrial } from "../../builders/hostile-trial.ts";
import {
  BACKUP_IDS,
  BACKUP_MANIFEST_VALUES,
  CRON_VALUES,
  HEADER_VALUES,
  METADATA_DATES,
  TICK_TIMES,
} from "../../builders/hostile-values.ts";
import { MemoryBucket } from "../../builders/memory-bucket.ts";
import { anEnqueueRequest } from "../../builders/run.ts";
import { aBackup } from "../../builders/stored-backup.ts";
import { responseFrom } from "../../builders/upstream-world.ts";

/** The files that are published already. */
async function publishedFiles({ world }: HostileTrial) {
  const files = await embeddedUpstream(world.ingest.snapshot).fetch();
  const [airports, regions] = files.map((file) =>
    "bytes" in file ? file.bytes : new Uint8Array(),
  );
  if (airports === undefined || regions === undefined) throw new Error("the snapshot has no files");
  return { airports, regions };
}

describe("a header of upstream", () => {
  it.each(Object.entries(HEADER_VALUES))(
    "%s, whatever it says, survives a new start",
    async (name, values) => {
      const trial = await HostileTrial.start();
      const { ingest } = trial.world;
      const { upstream } = ingest;
      const { airports, regions } = await publishedFiles(trial);
      for (const value of values) {
        const status = name === "retry-after" ? 503 : 200;
        ingest.upstream = httpUpstream({
          urls: {
            "airports.csv": "https://a.example/a.csv",
            "regions.csv": "https://a.example/r.csv",
          },
          allowedHosts: [],
          maxBytes: 1_000_000,
          deadlineMs: HTTP_DEADLINE_MS,
          now: () => ingest.time,
          fetch: async (url) =>
            responseFrom(url, url.endsWith("a.csv") ? airports : regions, {
              status,
              headers: { [name]: value },
            }),
        });
        const { run } = await ingest.enqueue({ mode: "full" });
        await ingest.alarm();
        await trial.restart(`${name}: ${value.slice(0, 60)}`);
        await ingest.drain();
        const { state, error } = ingest.run(run.id);
        trial.note(state === "succeeded");
        expect([state, error?.code ?? null]).toEqual(
          status === 503 ? ["failed", "source_http_status"] : ["succeeded", null],
        );
        await trial.restart(`${name}: ${value.slice(0, 60)}`);
      }
      ingest.upstream = upstream;
      await trial.goOn();
    },
  );
});

describe("the metadata of a dropped file", () => {
  it("is refused by name, or survives a new start", async () => {
    const trial = await HostileTrial.start();
    const { ingest } = trial.world;
    const { upstream } = ingest;
    const bucket = new MemoryBucket();
    const files = await publishedFiles(trial);
    for (const as_of of METADATA_DATES) {
      for (const [name, bytes] of Object.entries(files))
        bucket.lay(dropKey(`${name}.csv.gz`), bytes, { customMetadata: { as_of } });
      ingest.upstream = droppedUpstream(createDropBox(bucket.binding), {
        maxBytes: 1_000_000,
        now: () => ingest.time,
      });
      const { state, error } = await ingest.runToEnd({ mode: "full" });
      trial.note(state === "succeeded");
      expect(error?.code ?? "source_bad_date").toBe("source_bad_date");
      await trial.restart(`as_of ${as_of.slice(0, 60)}`);
    }
    expect([trial.accepted, trial.values]).toEqual([2, METADATA_DATES.length]);
    ingest.upstream = upstream;
    await trial.goOn();
  });
});

describe("a backup from elsewhere", () => {
  const rows = Object.entries(BACKUP_MANIFEST_VALUES).flatMap(([field, values]) =>
    values.map((value) => [field, value] as const),
  );
  const ID = "0199aa3c-0000-7000-8000-00000000000f";
  /** A restore goes by the other fields; these are shown. */
  const SHOWN = ["trigger", "note", "started_at", "finished_at", "worker_version", "built_by"];

  it("has a row for each field of its manifest", () => {
    const { sha256: _, ...fields }: { sha256: string } = JSON.parse(aBackup(ID).text);
    expect(Object.keys(BACKUP_MANIFEST_VALUES).toSorted()).toEqual(Object.keys(fields).toSorted());
  });

  it("is refused by its name or its manifest, or survives a new start", async () => {
    const trial = await HostileTrial.start();
    const { world } = trial;
    const lay = (id: string, changes: Partial<BackupManifest> = {}) =>
      world.backups.lay(backupManifestKey(id), aBackup(id, changes).text, {
        storedAt: world.ingest.time,
      });
    const cases: [string, Partial<BackupManifest>][] = [
      ...BACKUP_IDS.map((id): [string, object] => [id, {}]),
      ...rows.map(([field, value]): [string, object] => [ID, { [field]: value }]),
    ];
    for (const [id, changes] of cases) {
      const what = `${id.slice(0, 40)} ${JSON.stringify(changes).slice(0, 80)}`;
      trial.reset();
      lay(id, changes);
      const list = await world.request("/admin/backup/list");
      expect(list.status, what).toBe(200);
      const { backups } = await list.json<{ backups: { id: string; state: string }[] }>();
      const found = backups.find((backup) => backup.id === id);
      trial.note(found?.state === "complete");
      expect((await world.request("/admin/monitor/status")).status, what).not.toBe(500);
      const restored = found && (await world.post(`/admin/backup/${id}/restore`));
      expect(restored?.status ?? 404, what).toBeLessThan(500);
      if (restored?.ok !== true) continue;
      await trial.restart(what);
      if (Object.keys(changes).some((field) => SHOWN.includes(field))) continue;
      await world.installation.drain();
      await trial.restart(what);
    }
    expect(trial.values).toBe(BACKUP_IDS.length + rows.length);
    for (const id of BACKUP_IDS) lay(id);
    await trial.goOn();
  });
});

/** What a call throws; null if it does not. */
function refusalOf(call: () => unknown): string | null {
  try {
    call();
    return null;
  } catch (refusal) {
    return String(refusal);
  }
}

describe("a cron tick", () => {
  const crons = Object.keys(CRON_JOBS);

  it.each(CRON_VALUES)("of the unknown trigger %j is refused by name", (cron) => {
    expect(() => cronJob(cron, 0)).toThrow("no job for the cron trigger");
  });

  it.each(crons)("of %s is refused by name, or survives a new start", async (cron) => {
    const trial = await HostileTrial.start();
    for (const at of TICK_TIMES) {
      const refusal = refusalOf(() => cronJob(cron, at));
      expect(refusal ?? "scheduledTime").toContain("scheduledTime");
      trial.note(refusal === null);
      if (refusal !== null) continue;
      const { ingest, monitor } = trial.world;
      await ingest.coordinator.tick(cron, at, anEnqueueRequest({ trigger: "cron" }));
      await ingest.coordinator.tickJob(cron, at, "back_up");
      await ingest.coordinator.tickJob(cron, at, "verify_backup");
      await monitor.monitor.evaluate({ trigger: "cron", requested_by: "cron", tick: at });
      await trial.restart(`${cron} ${at}`);
    }
    expect([trial.accepted, trial.values]).toEqual([5, TICK_TIMES.length]);
    await trial.goOn();
  });
});
