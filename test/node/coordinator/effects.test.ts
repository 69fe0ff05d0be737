/** A job or a request succeeds only with its effect; otherwise it says what to do, and that helps. */
import { describe, expect, it, vi } from "vitest";
import { generationKey, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { BackupWorld, byOps } from "../../builders/backup-world.ts";
import { startEachFrom } from "../../builders/coordinator-world.ts";

const world = new BackupWorld(undefined, ["en"]);
const { ingest } = world;
let backup_id = "";
startEachFrom(world, async () => {
  await ingest.publishVersions(2);
  ({ backup_id } = await world.backUp());
});

/** Lets the coordinator lose the version that it has recorded last. */
function loseVersion(): void {
  ingest.tables.sql.exec(
    "UPDATE versions SET manifest = '{' WHERE generation = (SELECT MAX(generation) FROM versions)",
  );
  world.crash();
}

const WHAT_TO_DO = /see GET \/admin\/monitor\/set-aside.*repeat the request/;

describe("a job that has recorded a version, which is then lost", () => {
  it("fails if it is a run, with advice, and the next run publishes", async () => {
    ingest.renameAirport("Kloten");
    const { id } = await ingest.runUpTo("verify");
    loseVersion();
    await world.drain();
    const error = { code: "version_lost", message: expect.stringMatching(WHAT_TO_DO) };
    expect(ingest.run(id)).toMatchObject({ state: "failed", error });
    expect(await ingest.runToEnd()).toMatchObject({ outcome: "published" });
    expect(await ingest.served()).toEqual(ingest.current());
  });

  it("fails if it is a restore, with advice, and succeeds when it is repeated", async () => {
    const started = await ingest.coordinator.restoreBackup(backup_id, byOps());
    if (!started.ok) throw new Error(started.reason);
    await world.drain(() => world.job(started.job.id).generation !== null);
    loseVersion();
    await world.drain();
    const error = { code: "version_lost", message: expect.stringMatching(WHAT_TO_DO) };
    expect(world.job(started.job.id)).toMatchObject({ state: "failed", error });
    expect(await world.restore(backup_id)).toMatchObject({ state: "succeeded" });
    expect(ingest.coordinator.versions()).not.toEqual([]);
    expect(await ingest.served()).toEqual(ingest.current());
  });
});

describe("a version that could not be read again", () => {
  it("is not recorded: the run fails, and nothing changes", async () => {
    const before = await ingest.served();
    ingest.renameAirport("Kloten");
    const { id } = await ingest.runUpTo("publish");
    ingest.tables.sql.exec(
      "UPDATE jobs SET record = json_set(record, '$.checkpoint.entries.en.parts.json.bytes', -1) WHERE is_open = 1",
    );
    world.crash();
    await world.drain();
    const message = expect.stringContaining("the version cannot be recorded: locales: en");
    expect(ingest.run(id)).toMatchObject({ state: "failed", error: { message } });
    world.crash();
    expect(ingest.coordinator.versions()).toHaveLength(2);
    expect(await ingest.served()).toEqual(before);
  });
});

const REFUSED = [`kv put ${MANIFEST_KEY}`, `r2 put ${MANIFEST_KEY}`, `r2 head ${MANIFEST_KEY}`];

describe.each([
  ["a rollback", () => ingest.coordinator.rollback(1), false],
  ["a takeover", () => ingest.coordinator.takeOver("ops"), true],
] as const)("%s", (_, ask, isForeign) => {
  it.each(REFUSED.filter((call) => !isForeign || !call.includes("head")))(
    "says that a store does not show its version while it refuses “%s”, and succeeds when it is repeated",
    async (refused) => {
      if (isForeign) ingest.loseTables();
      const before = ingest.coordinator.versions().length;
      world.before = (call) => {
        if (call === `catalog ${refused}`) throw new Error("503");
      };
      for (let times = 0; times < 2; times++) {
        const detail = expect.stringContaining("repeat the request to see");
        expect(await ask()).toMatchObject({
          ok: false,
          reason: "not_shown",
          detail,
          published: { changed: times === 0, version: { generation: 3 } },
        });
      }
      world.before = () => {};
      expect(await ask()).toMatchObject({ ok: true, changed: false, version: { generation: 3 } });
      expect(await ingest.served()).toMatchObject({ generation: 3, previous: 2 });
      expect(ingest.coordinator.versions().length).toBeGreaterThan(before);
    },
  );
});

describe("a rollback", () => {
  it.each([`kv put ${MANIFEST_KEY}`, `r2 put ${MANIFEST_KEY}`])(
    "does not wait for “%s” that never answers, and says so in time",
    async (hanging) => {
      vi.useFakeTimers();
      try {
        world.before = (call) =>
          call === `catalog ${hanging}` ? new Promise(() => {}) : undefined;
        const answer = ingest.coordinator.rollback(1);
        await vi.advanceTimersByTimeAsync(15_000);
        const late = Promise.resolve("late");
        expect(await Promise.race([answer, late])).toMatchObject({ reason: "not_shown" });
      } finally {
        vi.useRealTimers();
      }
    },
  );

  it("writes nothing beside a job that replicates its version", async () => {
    ingest.renameAirport("Kloten");
    await ingest.runUpTo("verify");
    const hung = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    world.before = (call) => {
      if (call !== `catalog kv put ${MANIFEST_KEY}`) return;
      entered.resolve();
      return hung.promise;
    };
    const alarm = ingest.alarm();
    await entered.promise;
    const before = world.calls.length;
    expect(await ingest.coordinator.rollback(1)).toMatchObject({ reason: "not_shown" });
    expect(world.calls.slice(before).filter((call) => call.includes(" put "))).toEqual([]);
    world.before = () => {};
    hung.resolve();
    await alarm;
    await world.drain();
    expect(await ingest.served()).toMatchObject({ generation: 4 });
  });
});

describe("a takeover of stores without a usable version", () => {
  /** Leaves manifests that nobody can read. */
  function spoil(): void {
    const damaged = Uint8Array.of(1, 2, 3);
    for (const generation of [1, 2]) ingest.store.r2.set(generationKey(generation), damaged);
    ingest.store.kv.set(MANIFEST_KEY, damaged);
    ingest.store.bucket.damage(MANIFEST_KEY, () => damaged);
    ingest.loseTables();
  }

  it.each([
    ["restoring a backup", async () => world.restore(backup_id)],
    [
      "a run with mode full",
      async () => {
        await ingest.enqueue({ mode: "full" });
        await ingest.coordinator.resume();
        await world.drain();
        return ingest.state.runs()[0];
      },
    ],
  ])("fails, however often, and says what to do: %s helps", async (_, help) => {
    spoil();
    for (let times = 0; times < 2; times++)
      expect(await ingest.coordinator.takeOver("ops")).toEqual({
        ok: false,
        reason: "nothing_adopted",
        detail: expect.stringMatching(/Restore a backup; .* mode full, and resume/),
      });
    expect(await help()).toMatchObject({ state: "succeeded" });
    expect(await ingest.served()).toEqual(ingest.current());
    expect(await ingest.coordinator.takeOver("ops")).toMatchObject({ ok: true, changed: false });
  });

  it("names what it has not adopted if it publishes an older version", async () => {
    const damaged = Uint8Array.of(0);
    ingest.store.r2.set(generationKey(2), damaged);
    ingest.store.kv.set(MANIFEST_KEY, damaged);
    ingest.store.bucket.damage(MANIFEST_KEY, () => damaged);
    const older = ingest.state.findRetained(1)?.catalog_sha256;
    ingest.loseTables();
    const taken = await ingest.coordinator.takeOver("ops");
    const unusable = expect.arrayContaining([expect.stringContaining(generationKey(2))]);
    expect(taken).toMatchObject({ ok: true, version: { catalog_sha256: older }, unusable });
    const problems = taken.ok ? taken.unusable : [];
    expect(world.events).toContainEqual(
      expect.objectContaining({ event: "versions_unusable", fields: { problems } }),
    );
  });

  it("adopts them if it owns the stores already and has lost them", async () => {
    ingest.tables.sql.exec("UPDATE versions SET manifest = '{'");
    world.crash();
    const taken = { ok: true, changed: false, version: { generation: 2 } };
    expect(await ingest.coordinator.takeOver("ops")).toMatchObject(taken);
    expect(ingest.coordinator.versions()).toHaveLength(2);
  });
});
