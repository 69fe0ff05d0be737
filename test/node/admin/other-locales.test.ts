/** Settings whose locales are not those of the catalog, by a deployment or by a restore. */
import { describe, expect, it } from "vitest";
import { messageSha256 } from "../../../src/parts/manifest.ts";
import type { BackupJob } from "../../../src/schemas/backup-job.ts";
import { AdminWorld, type Json } from "../../builders/admin-world.ts";
import { BackupWorld } from "../../builders/backup-world.ts";
import { AIRPORTS_AT_FIRST, anUpstream } from "../../builders/coordinator-world.ts";
import { moreAirports } from "../../builders/small-snapshot.ts";

interface Locales {
  readonly published: readonly string[];
  /** LOCALES. */
  readonly locales: readonly string[];
  /** DEFAULT_LOCALE. */
  readonly defaultLocale: string;
}

/** What is published, the settings, the locale that answers, and the expected warning. */
const ROWS = [
  [["de", "en"], ["ja"], "ja", "en", /lacks ja of LOCALES.*is ja: en answers.*has de, en, which/],
  [["de"], ["en", "ja"], "ja", "de", /lacks en, ja of LOCALES.*is ja: de answers.*has de, which/],
  [["en"], ["de", "en"], "de", "en", /lacks de of LOCALES.*is de: en answers/],
  [["de", "ja"], ["en"], "en", "de", /lacks en of LOCALES.*is en: de answers.*has de, ja, which/],
  [["de", "en"], ["en", "ja"], "en", "en", /lacks ja of LOCALES\. \w+.* has de, which/],
  [["de", "en"], ["en"], "en", "en", /^\S+ \S+ has de, which LOCALES does not name/],
  [["de", "en"], ["de", "en"], "de", "de", null],
] as const;

/** Starts the coordinator and an isolate with other settings, as a deployment does. */
function deploy(world: AdminWorld, { locales, defaultLocale }: Omit<Locales, "published">): void {
  Object.assign(world.ingest, { locales, defaultLocale });
  world.installation.crash();
}

const installed = async (locales: readonly string[]) => {
  const installation = new BackupWorld(undefined, locales);
  await installation.ingest.publishVersions(1);
  return installation;
};

/** New settings over a catalog. */
async function deployed({ published, ...settings }: Locales): Promise<AdminWorld> {
  const world = new AdminWorld(await installed(published));
  deploy(world, settings);
  return world;
}

/** A backup of one installation, restored into another one, which has published its own locales. */
async function restored({ published, ...settings }: Locales): Promise<AdminWorld> {
  const { world, id } = await beforeRestore({ published, ...settings });
  await world.post(`/admin/backup/${id}/restore`, {});
  await world.ingest.drain();
  await world.post("/admin/ingest/resume", {});
  return world;
}

async function beforeRestore({ published, ...settings }: Locales) {
  const source = await installed(published);
  const { backup_id: id } = await source.backUp();
  const world = new AdminWorld(new BackupWorld(source, settings.locales));
  deploy(world, settings);
  await world.ingest.publishVersions(1);
  return { world, id };
}

const checkOf = async (world: AdminWorld, path: string, name: string) => {
  const answer = await world.request(path);
  const { checks } = await answer.json<{ checks: { [name: string]: readonly Json[] } }>();
  return { status: answer.status, check: checks[name]?.[0] ?? {} };
};

const onlyLocales = (expected: RegExp | null) => expected && expect.stringMatching(expected);

describe.each([
  ["a deployment", deployed],
  ["a restore", restored],
])("after %s", (_, arrange) => {
  it.each(ROWS)(
    "that leaves %j published where LOCALES is %j and the default %s, %s answers until the next run fixes it without force",
    async (published, locales, defaultLocale, answering, expected) => {
      const world = await arrange({ published, locales, defaultLocale });
      const { locales: served = {} } = (await world.ingest.served()) ?? {};
      expect(Object.keys(served)).toEqual(published);

      const health = await checkOf(world, "/catalog/health", "catalog:integrity");
      expect(health.status).toBe(200);
      const entry = served[answering];
      expect(health.check).toMatchObject({
        status: "pass",
        observedValue: entry && messageSha256(entry),
      });
      const differ = () => checkOf(world, "/admin/monitor/status", "rule:locales_differ");
      const { status, output = null } = (await differ()).check;
      expect([status, output]).toEqual([
        expected === null ? "pass" : "warn",
        onlyLocales(expected),
      ]);

      world.ingest.renameAirport("Kloten");
      const run = await world.ingest.runToEnd();
      expect(run).toMatchObject({
        outcome: "published",
        guards: [],
        counts: { airports: { kept: AIRPORTS_AT_FIRST, changed: 1, added: 0, removed: 0 } },
      });
      expect(run.changes?.regions.counts).toEqual({ added: 0, changed: 0, removed: 0 });
      expect(Object.keys((await world.ingest.served())?.locales ?? {})).toEqual(locales);
      expect((await differ()).check).toMatchObject({ status: "pass" });
    },
  );

  it.each([
    ["loses half of its airports", AIRPORTS_AT_FIRST / 2, "A", "guard_shrink"],
    ["renames half of its airports", AIRPORTS_AT_FIRST, "Vandalized", "guard_change"],
  ])("a run in other locales still fails if upstream %s", async (_what, count, name, guard) => {
    const world = await arrange({ published: ["de", "en"], locales: ["ja"], defaultLocale: "ja" });
    const isRenamed = (index: number) => guard === "guard_change" && index % 2 === 0;
    world.ingest.upstream = anUpstream(
      moreAirports(count).map((row, index) => (isRenamed(index) ? { ...row, name } : row)),
    );
    const run = await world.ingest.runToEnd();
    expect(run.guards.map((trip) => trip.guard)).toContain(guard);
    expect(run).toMatchObject({ state: "failed", generation_after: null });
  });
});

describe("before a restore changes anything", () => {
  it.each(ROWS)(
    "of %j where LOCALES is %j and the default %s, its answer, its job and the comparison say what differs",
    async (published, locales, defaultLocale, _answering, expected) => {
      const { world, id } = await beforeRestore({ published, locales, defaultLocale });
      const compared = await world.request(`/admin/catalog/comparison?to=${id}`);
      expect(await compared.json()).toMatchObject({
        from: { locales },
        to: { locales: published },
        warning: onlyLocales(expected),
        changes: { regions: { counts: { added: 0, changed: 0, removed: 0 } } },
      });
      const before = await world.ingest.served();
      const answer = await world.post(`/admin/backup/${id}/restore`, {});
      const { message, job } = await answer.json<{ message: string; job: BackupJob }>();
      expect(await world.ingest.served()).toEqual(before);
      const { id: jobId, warning = null } = job;
      expect(warning).toEqual(onlyLocales(expected));
      expect(message.includes(warning ?? "LOCALES")).toBe(expected !== null);
      await world.ingest.drain();
      const { state, warning: kept = null } = world.installation.job(jobId);
      expect([state, kept]).toEqual(["succeeded", warning]);
    },
  );
});
