/** What docs/alerts.md advises about a rule, done once on a service that is broken so. */
import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { blobsOf, type Manifest } from "../../../src/parts/manifest.ts";
import { newestTimes } from "../../../src/backup/read-backups.ts";
import { type FactSources, readFacts } from "../../../src/monitor/facts.ts";
import { evaluateRules } from "../../../src/monitor/rules.ts";
import { RULE_NAMES, type RuleName } from "../../../src/schemas/rule-names.ts";
import type { Run } from "../../../src/schemas/run.ts";
import { blobKey, generationKey, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { AdminWorld } from "../../builders/admin-world.ts";
import { BackupWorld } from "../../builders/backup-world.ts";
import { startEachFrom } from "../../builders/coordinator-world.ts";
import { DEFAULT_LIMITS, MINUTE_MS, someFacts } from "../../builders/facts.ts";
import { flipBit } from "../../builders/memory-bucket.ts";
import { manifestBytes } from "../../builders/memory-catalog-store.ts";

const OF_PAGE = "test/node/admin/drills.test.ts";
const OUTSIDE = "its advice is done outside the service:";

/** Where each rule is drilled: here, or in a test of another file; or why it is not. */
const DRILLS: {
  readonly [rule in RuleName]: "here" | readonly [file: string, title: string] | { not: string };
} = {
  catalog_stale: { not: "its advice is that of the rules of failed runs, or a run" },
  data_old: { not: `${OUTSIDE} a setting, or a snapshot that somebody makes` },
  ingest_failing: { not: "it refers to the fault of each code, of which it counts the runs" },
  source_broken: { not: `${OUTSIDE} upstream or a setting` },
  ingest_stuck: "here",
  replication_stuck: "here",
  foreign_stores: "here",
  guard_tripped: [OF_PAGE, "approve what guards refused"],
  rows_unusable: { not: `${OUTSIDE} the file of upstream` },
  changes_held: [
    "test/node/admin/ingest/held-routes.test.ts",
    "queues a run that publishes only the approved change",
  ],
  ingest_paused_long: "here",
  queue_backlog: { not: `${OUTSIDE} D1, or whoever queues runs` },
  blobs_lost: "here",
  integrity_mismatch: "here",
  ledger_lost: {
    not: "what is lost cannot come back but by a restore, which has tests of its own",
  },
  history_lost: [
    OF_PAGE,
    "see that D1 has lost its rows, although its tables are there again, and restore them",
  ],
  values_set_aside: [
    "test/node/storage/set-aside.sweep.test.ts",
    "of the %s in %s, whatever they are, stop nothing",
  ],
  backup_stale: [OF_PAGE, "see which rule fails, and do what its section says"],
  backup_unverified: { not: "its first advice is the call that every backup ends with" },
  coverage_drop: { not: "its advice is a rollback, which drills.test.ts has" },
  locales_differ: { not: "its advice is a run, with other settings than the coordinator here" },
  notify_failing: { not: `${OUTSIDE} the receiver` },
  ticks_missed: { not: `${OUTSIDE} the triggers of the deployment` },
  monitor_gap: { not: `${OUTSIDE} the triggers of the deployment` },
  token_expiring: { not: `${OUTSIDE} a secret` },
  settings_wrong: { not: `${OUTSIDE} a setting or a secret` },
};

/** The files with drills, and what each has in it. */
function drillsIn(): (readonly [file: string, text: string])[] {
  return Object.entries(DRILLS).flatMap(([rule, drill]): (readonly [string, string])[] => {
    if (drill === "here") return [[import.meta.filename, `\ndescribe("${rule}", `]];
    return "not" in drill ? [] : [[drill[0], `("${drill[1]}"`]];
  });
}

it("every rule has a drill, or a reason why it has none", () => {
  expect(Object.keys(DRILLS)).toEqual(RULE_NAMES);
  for (const [file, text] of drillsIn()) expect(readFileSync(file, "utf8")).toContain(text);
});

const installation = new BackupWorld(undefined, ["en"]);
startEachFrom(installation, async () => {
  await new AdminWorld(installation).ingest.publishVersions(2);
  await installation.backUp();
});
let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld(installation);
});

/** What a rule finds now in the stores and the coordinator. */
async function statusOf(name: RuleName): Promise<string | undefined> {
  const { monitor } = someFacts();
  const sources: FactSources = {
    readIngest: async () => world.ingest.coordinator.status(),
    store: world.ingest.store,
    history: { ping: async () => {}, saveRuns: async () => {}, deleteOldRuns: async () => 0 },
    readBackups: () => newestTimes(installation.store),
    inputTimeoutMs: 60_000,
  };
  const check = { isLocaleDue: true, after: null, suspects: [] };
  const facts = await readFacts(sources, { check, monitor });
  const context = { now: world.ingest.time, limits: DEFAULT_LIMITS };
  return evaluateRules(facts, context).find(({ rule }) => rule === name)?.status;
}

/** The call that a rule's section of the page advises. */
function advised(rule: string, text: RegExp): void {
  const [, section = ""] = readFileSync("docs/alerts.md", "utf8").split(`### \`${rule}\``);
  expect(section.split("###")[0]).toMatch(text);
}

async function post<T>(path: string, body: object = {}): Promise<T> {
  const answer = await world.post(path, body);
  expect(answer.ok).toBe(true);
  return answer.json<T>();
}

/** Lets a cron tick pass, as every five minutes. */
async function tick(): Promise<void> {
  world.ingest.time += 5 * MINUTE_MS;
  const call = () => world.ingest.coordinator.reconcile(world.ingest.time);
  await call().catch(call);
  await world.ingest.drain();
}

async function restoreNewest(): Promise<void> {
  const list = await world.request("/admin/backup/list");
  const { backups } = await list.json<{ backups: { id: string }[] }>();
  await post(`/admin/backup/${backups[0]?.id}/restore`);
  await world.ingest.drain();
}

async function runFully(): Promise<void> {
  const { run } = await post<{ run: Run }>("/admin/ingest/queue", { mode: "full" });
  await post("/admin/ingest/resume");
  await world.ingest.drain();
  expect(world.ingest.run(run.id)).toMatchObject({ state: "succeeded" });
}

function current(): Manifest {
  const version = world.ingest.current();
  if (version === null) throw new Error("nothing is published");
  return version;
}

describe("ingest_stuck", () => {
  /** Lets a step of a run hang for eleven minutes, in which no tick comes. */
  async function hang(): Promise<Run> {
    let hasHung = false;
    world.ingest.before = (call) => {
      if (hasHung || call !== "upstream fetch") return;
      hasHung = true;
      return new Promise(() => {});
    };
    world.ingest.renameAirport("Kloten");
    const { run } = await post<{ run: Run }>("/admin/ingest/queue");
    void world.ingest.alarm();
    await vi.waitUntil(() => hasHung);
    world.ingest.time += 11 * MINUTE_MS;
    expect(await statusOf("ingest_stuck")).toBe("fail");
    return run;
  }

  it("ends when nobody does anything for ten minutes, and the run publishes", async () => {
    advised("ingest_stuck", /wait ten minutes/);
    const { id } = await hang();
    await tick();
    expect(world.ingest.run(id)).toMatchObject({ outcome: "published" });
    expect(await statusOf("ingest_stuck")).toBe("pass");
  });

  it("ends when the run is cancelled and another is queued", async () => {
    advised("ingest_stuck", /cancel a stuck run and queue another/);
    const { id } = await hang();
    await post(`/admin/ingest/runs/${id}/cancel`);
    const { run } = await post<{ run: Run }>("/admin/ingest/queue");
    await world.ingest.drain();
    expect(world.ingest.run(id)).toMatchObject({ state: "cancelled" });
    expect(world.ingest.run(run.id)).toMatchObject({ outcome: "published" });
    expect(await statusOf("ingest_stuck")).toBe("pass");
  });
});

describe("replication_stuck", () => {
  it("is named in the log, and ends half a minute after the store accepts the manifest", async () => {
    advised("replication_stuck", /look for `replication_failed`.* at least once a minute/);
    installation.before = (call) => {
      if (call === `catalog kv put ${MANIFEST_KEY}`) throw new Error("429");
    };
    const answer = await world.post("/admin/catalog/rollback", { generation: 1 });
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: "not_shown" }]);
    world.ingest.time += 11 * MINUTE_MS;
    await world.ingest.alarm();
    expect(await statusOf("replication_stuck")).toBe("fail");
    expect(installation.events.map(({ event }) => event)).toContain("replication_failed");
    installation.before = () => {};
    world.ingest.time += 30_000;
    await world.ingest.alarm();
    expect(await statusOf("replication_stuck")).toBe("pass");
    expect(await world.ingest.served()).toEqual(current());
  });
});

describe("foreign_stores", () => {
  /** Loses the state of the coordinator, and leaves it no manifest that can be read. */
  function loseState(): void {
    const { store } = world.ingest;
    for (const generation of [1, 2]) store.r2.set(generationKey(generation), Uint8Array.of(0));
    store.bucket.damage(MANIFEST_KEY, flipBit);
    store.kv.set(MANIFEST_KEY, Uint8Array.of(0));
    world.ingest.loseTables();
  }

  it("ends with a takeover", async () => {
    advised("foreign_stores", /call `POST \/admin\/catalog\/take-over`/);
    world.ingest.loseTables();
    expect(await statusOf("foreign_stores")).toBe("fail");
    await post("/admin/catalog/take-over");
    expect(await statusOf("foreign_stores")).toBe("pass");
  });

  it.each([
    ["a restore of a backup", restoreNewest],
    ["a full run", runFully],
  ])("ends with a takeover and %s if no version in the stores can be used", async (_, help) => {
    advised("foreign_stores", /`nothing_adopted`, \[restore\].*`"mode": "full"`, and resume/);
    loseState();
    const answer = await world.post("/admin/catalog/take-over", {});
    expect([answer.status, await answer.json()]).toMatchObject([409, { code: "nothing_adopted" }]);
    await help();
    expect(await statusOf("foreign_stores")).toBe("pass");
    expect(await world.ingest.served()).toEqual(current());
  });
});

describe("ingest_paused_long", () => {
  it.each([
    ["a resumption", () => post("/admin/ingest/resume")],
    [
      "a pause with an end",
      () =>
        post("/admin/ingest/pause", {
          until: new Date(world.ingest.time + MINUTE_MS).toISOString(),
        }),
    ],
  ])("ends with %s", async (_, end) => {
    advised("ingest_paused_long", /resume, or pause again with an `until`/);
    await post("/admin/ingest/pause");
    world.ingest.time += 25 * 60 * MINUTE_MS;
    expect(await statusOf("ingest_paused_long")).toBe("warn");
    await end();
    world.ingest.time += 2 * MINUTE_MS;
    expect(await statusOf("ingest_paused_long")).toBe("pass");
  });
});

describe("blobs_lost", () => {
  it.each([
    ["a restore of the newest backup, even during a pause", restoreNewest],
    ["a full run", runFully],
  ])("ends with %s", async (_, help) => {
    advised(
      "blobs_lost",
      /\[restore\].* the newest backup, even during a pause\..* `"mode": "full"`, and resume/,
    );
    await post("/admin/ingest/pause");
    for (const sha256 of blobsOf(current())) installation.loseBlob(sha256);
    expect(await statusOf("blobs_lost")).toBe("fail");
    await help();
    expect(await statusOf("blobs_lost")).toBe("pass");
  });
});

describe("integrity_mismatch", () => {
  it.each([
    [
      "of another installation",
      (): Manifest => ({ ...current(), published_at: "2026-01-01T00:00:00.000Z" }),
    ],
    [
      "that nobody could publish above",
      (): Manifest => ({ ...current(), generation: 2 ** 53 - 1 }),
    ],
  ])("of a manifest in KV %s ends at the next tick", async (_, other) => {
    advised("integrity_mismatch", /A manifest: wait five minutes/);
    world.ingest.store.kv.set(MANIFEST_KEY, manifestBytes(other()));
    expect(await statusOf("integrity_mismatch")).toBe("warn");
    await tick();
    expect(await statusOf("integrity_mismatch")).toBe("pass");
    expect(world.ingest.coordinator.versions()).not.toEqual([]);
    expect(await world.ingest.served()).toEqual(current());
  });

  it("of blobs ends with a full run", async () => {
    advised("integrity_mismatch", /A blob: queue a run with `"mode": "full"`/);
    const { store } = world.ingest;
    for (const key of store.kv.keys())
      if (key.startsWith(blobKey(""))) store.kv.set(key, Uint8Array.of(0));
    expect(await statusOf("integrity_mismatch")).toBe("warn");
    await runFully();
    expect(await statusOf("integrity_mismatch")).toBe("pass");
  });
});
