import { beforeEach, describe, expect, it } from "vitest";
import {
  ACCEPTED_FILE,
  decodeAccepted,
  decodeHeld,
  HELD_FILE,
} from "../../../src/ingest/ledger-files.ts";
import { snapshotOpener } from "../../../src/sources/snapshot.ts";
import type { Accepted } from "../../../src/acceptance/airport.ts";
import { ourAirports } from "../../../src/sources/our-airports.ts";
import { EMBEDDED, embeddedUpstream } from "../../../src/sources/upstream.ts";
import { FIRST_INGEST_CHECKPOINT, parseAgain } from "../../../src/ingest/checkpoint.ts";
import { createWorkspace } from "../../../src/ingest/workspace.ts";
import { describeContent } from "../../../src/ingest/content.ts";
import { sourceKey } from "../../../src/storage/keys.ts";
import { PipelineWorld } from "../../builders/pipeline-world.ts";
import { aSnapshot, moreAirports, smallAirports } from "../../builders/small-snapshot.ts";
import { anUpstream } from "../../builders/coordinator-world.ts";
import type { Row } from "../../builders/source.ts";
import { DEPLOYED_LIMITS, NOTHING_HELD } from "../../builders/hold-limits.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const ROWS = moreAirports(40);

let world: PipelineWorld;

beforeEach(() => {
  world = new PipelineWorld(["en"]);
  world.snapshot = aSnapshot({ airports: ROWS });
  world.holdLimits = DEPLOYED_LIMITS;
});

/** Runs on the next day with these rows of upstream. */
async function nextDay(rows: readonly Row[]): Promise<string | null> {
  world.upstream = anUpstream(rows);
  world.time += DAY_MS;
  return (await world.runToEnd()).outcome;
}

const renamed = (name: string): Row[] =>
  ROWS.map((row) => (row["iata_code"] === "ZRH" ? { ...row, name } : row));

/** Runs over the snapshot on the same day. */
async function embeddedRun(): Promise<void> {
  const { source } = world;
  world.source = EMBEDDED;
  world.upstream = embeddedUpstream(world.snapshot);
  await world.runToEnd();
  world.source = source;
}

async function accepted(): Promise<Accepted> {
  const sha256 = world.current?.sources[ACCEPTED_FILE] ?? "";
  return decodeAccepted(await world.archive.open(ACCEPTED_FILE, sha256));
}

async function held() {
  const sha256 = world.current?.sources[HELD_FILE] ?? "";
  return decodeHeld(await world.archive.open(HELD_FILE, sha256));
}

async function servedName(): Promise<string | undefined> {
  const { airports } = await accepted();
  return airports.find(({ iata }) => iata === "ZRH")?.name;
}

describe("a run over an upstream that may lie", () => {
  it("publishes a change of an airport on its fourth day, and counts what waits until then", async () => {
    const ghost = renamed("Ghost").map((row) =>
      row["iata_code"] === "GVA" ? { ...row, name: "Geneva International Airport" } : row,
    );
    expect(await nextDay(ghost)).toBe("published");
    expect(world.run.held).toEqual({
      waiting: 2,
      added: 2,
      ended: 0,
      surprising: 1,
      by_rule: { changes_name: 1 },
      oldest_since: "2026-11-02T04:17:00.000Z",
      next_due_at: "2026-11-05T04:17:00.000Z",
    });
    expect(world.checkpoint.parsed?.held).toEqual({
      waiting: 1,
      oldest_since: "2026-11-02T04:17:00.000Z",
      next_due_at: "2026-11-05T04:17:00.000Z",
    });
    expect(await servedName()).toBe("Zürich Airport");
    expect([await nextDay(ghost), await nextDay(ghost)]).toEqual(["unchanged", "unchanged"]);
    expect(await servedName()).toBe("Zürich Airport");
    expect(world.run.held).toMatchObject({ waiting: 2, added: 0 });
    expect(await nextDay(ghost)).toBe("published");
    expect(await servedName()).toBe("Ghost");
    expect(world.run.held).toMatchObject({
      waiting: 0,
      ended: 2,
      surprising: 0,
      oldest_since: null,
      next_due_at: null,
    });
  });

  it("counts a day with the same file as a day with the same change", async () => {
    await nextDay(renamed("Ghost"));
    world.upstream = {
      reader: ourAirports,
      fetch: async (archived = {}) =>
        Object.entries(archived).map(([name, { sha256 }]) => ({
          name,
          as_of: "2026-11-02",
          unchangedSha256: sha256,
        })),
    };
    for (let day = 2; day <= 4; day++) {
      expect(await servedName()).toBe("Zürich Airport");
      world.time += DAY_MS;
      await world.runToEnd();
    }
    expect(await servedName()).toBe("Ghost");
  });

  it("builds again if somebody rejects a change that it is about to publish", async () => {
    const honest = new PipelineWorld(["en"]);
    honest.snapshot = world.snapshot;
    honest.upstream = anUpstream(ROWS);
    await honest.runToEnd();
    await nextDay(renamed("Ghost"));
    const id = (await held())[0]?.id ?? "";
    await nextDay(ROWS);
    world.holdLimits = NOTHING_HELD;
    world.upstream = anUpstream(renamed("Ghost"));
    world.checkpoint = FIRST_INGEST_CHECKPOINT;
    const pipeline = world.newPipeline();
    while (world.checkpoint.stage !== "publish") await world.step(pipeline);
    world.checkpoint = parseAgain(world.checkpoint);
    world.decisions = [{ seq: 1, id, verdict: "rejected", by: "ops", at: "", note: null }];
    while ((await world.step(pipeline)).next !== null);
    expect(world.current?.catalog_sha256).toBe(honest.current?.catalog_sha256);
  });

  it("archives the ledger, from which the version builds again to the byte", async () => {
    await nextDay(renamed("Ghost"));
    const { sources = {}, catalog_sha256 } = world.current ?? {};
    const open = (file: string, sha256: string) => world.archive.open(file, sha256);
    const workspace = await createWorkspace(sources, open, snapshotOpener(world.snapshot));
    expect((await describeContent(workspace, ["en"])).catalog_sha256).toBe(catalog_sha256);
    expect(await held()).toMatchObject([
      { iata: "ZRH", rules: ["changes_name"], state: "waiting" },
    ]);
  });

  it("continues where it was after a run of the snapshot, and recognizes the airports that were new", async () => {
    const opened = {
      ...smallAirports[0],
      id: "4",
      iata_code: "BRN",
      icao_code: "LSZB",
      name: "Bern",
      type: "heliport",
    };
    const bern = { ...opened, scheduled_service: "no" };
    // One airport is much of this small world.
    world.forced = true;
    for (let day = 1; day <= 4; day++) await nextDay([...ROWS, bern]);
    const upstream = [...renamed("Ghost"), bern];
    for (let day = 1; day <= 2; day++) await nextDay(upstream);
    await embeddedRun();
    expect(world.run.held).toMatchObject({ waiting: 1, ended: 0 });
    expect(await accepted()).toMatchObject({ gone: [{ id: "4", iata: "BRN" }], codedRows: 41 });
    const renumbered = upstream.map((row) =>
      row["iata_code"] === "BRN" ? { ...row, id: "5" } : row,
    );
    for (let day = 3; day <= 4; day++) await nextDay(renumbered);
    expect(await servedName()).toBe("Ghost");
    for (let day = 5; day <= 6; day++) await nextDay(renumbered);
    const { airports } = await accepted();
    expect(airports.find(({ iata }) => iata === "BRN")).toMatchObject({ id: "4", row: "5" });
  });
});

describe("an archive that has lost the ledger", () => {
  const opened = { ...smallAirports[0], id: "4", iata_code: "BRN", name: "Bern", type: "heliport" };
  const BERN: Row = { ...opened, icao_code: "LSZB", scheduled_service: "no" };
  const lose = (file: string, from = world.current) =>
    world.archive.bucket.files.delete(sourceKey(from?.sources[file] ?? ""));

  const twoVersions = async () => {
    world.holdLimits = NOTHING_HELD;
    await nextDay([...ROWS, BERN]);
    await nextDay([...renamed("Zürich-Kloten Airport"), BERN]);
    world.holdLimits = DEPLOYED_LIMITS;
  };

  it("lets the next run start from an earlier version, and say so", async () => {
    await twoVersions();
    lose(ACCEPTED_FILE);
    expect(await nextDay([...renamed("Ghost"), { ...BERN, id: "5" }])).toBe("published");
    expect(world.run.held).toMatchObject({ ledger_lost: true, waiting: 1 });
    expect(await servedName()).toBe("Zürich Airport");
    const { airports } = await accepted();
    expect(airports.find(({ iata }) => iata === "BRN")).toMatchObject({ id: "4", row: "5" });
    await nextDay([...ROWS, BERN]);
    expect(world.run.held).not.toHaveProperty("ledger_lost");
  });

  it("lets the next run start from the snapshot if no version is left", async () => {
    await twoVersions();
    world.forced = true;
    for (const version of world.versions) lose(ACCEPTED_FILE, version);
    expect(await nextDay([...renamed("Ghost"), BERN])).toBe("published");
    expect(world.run.held).toMatchObject({ ledger_lost: true, waiting: 2 });
    expect(await servedName()).toBe("Zürich Airport");
  });

  it("restarts the wait of held changes, and keeps the snapshot's corrections", async () => {
    const corrections = [{ ...smallAirports[0], name: "Kloten" }];
    world.snapshot = aSnapshot({ airports: ROWS, corrections });
    const rows = renamed("Kloten").map((row) =>
      row["iata_code"] === "GVA" ? { ...row, name: "Ghost" } : row,
    );
    for (let day = 1; day <= 9; day++) {
      await nextDay(rows);
      world.archive.bucket.files.delete(sourceKey(world.ledger?.held ?? ""));
      expect(world.run.held).toMatchObject({ waiting: 1, added: 1 });
    }
    expect(await servedName()).toBe("Zürich Airport");
  });
});
