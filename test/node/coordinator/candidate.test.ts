import { beforeEach, describe, expect, it } from "vitest";
import { type EnqueueRequest, REFUSED_KEPT } from "../../../src/coordinator/run-record.ts";
import type { Run } from "../../../src/schemas/run.ts";
import { sourceKey } from "../../../src/storage/keys.ts";
import { CoordinatorWorld } from "../../builders/coordinator-world.ts";
import { anEnqueueRequest } from "../../builders/run.ts";

const PUBLISHED = 60;
const HALF = 30;

let world: CoordinatorWorld;

/** A request for a run that works from what `run` has archived. */
const workingFrom = (run: Run, changes: Partial<EnqueueRequest> = {}) => ({
  candidate: { runId: run.id, upstream: run.upstream },
  source: run.source,
  ...changes,
});

const fetches = () => world.callsOf("upstream fetch").length;

/** What a run comes to that may not ask upstream. */
async function runOffline(changes: Partial<EnqueueRequest>): Promise<Run> {
  const before = fetches();
  const run = await world.runToEnd(changes);
  expect(fetches()).toBe(before);
  return run;
}

describe("a candidate that guards have refused", () => {
  let refused: Run;

  beforeEach(async () => {
    world = new CoordinatorWorld();
    world.setAirports(PUBLISHED);
    await world.runToEnd();
    world.setAirports(HALF);
    refused = await world.runToEnd();
    // By now upstream says something else again.
    world.setAirports(HALF - 5);
  });

  it.each(["incremental", "full"] as const)(
    "publishes by force from the archived bytes, in mode %s",
    async (mode) => {
      expect(refused.error?.code).toBe("guard_shrink");
      const approved = await runOffline(workingFrom(refused, { forced: true, mode }));
      expect(approved).toMatchObject({
        outcome: "published",
        candidate_of: refused.id,
        upstream: refused.upstream,
        catalog_sha256: refused.catalog_sha256,
      });
      expect(await world.served()).toMatchObject({ counts: { airports: HALF } });
      expect(world.history.rows.get(approved.id)?.run.candidate_of).toBe(refused.id);
    },
  );

  it("fails again without force, and a dry run only reports it", async () => {
    const again = await runOffline(workingFrom(refused));
    expect(again).toMatchObject({ state: "failed", error: { code: "guard_shrink" } });
    const dry = await runOffline(workingFrom(refused, { mode: "dry_run" }));
    expect(dry).toMatchObject({ outcome: "dry_run", counts: { airports: { kept: HALF } } });
  });

  it("accepts an approval through the later run that was refused again", async () => {
    const again = await runOffline(workingFrom(refused));
    const approved = await runOffline(workingFrom(again, { forced: true }));
    expect(approved).toMatchObject({ outcome: "published", candidate_of: again.id });
  });

  it("remains the base of its run when a deployment restarts that run", async () => {
    const { run } = await world.enqueue(workingFrom(refused, { forced: true }));
    await world.drain(() => world.run(run.id).stage === "encode");
    world.locales = ["de", "en"];
    world.crash();
    const before = fetches();
    await world.drain();
    expect(world.run(run.id)).toMatchObject({ outcome: "published" });
    expect(await world.served()).toMatchObject({ counts: { airports: HALF } });
    expect(fetches()).toBe(before);
  });

  it("cannot be queued after its files have left the archive", async () => {
    world.archive.bucket.files.clear();
    const request = anEnqueueRequest(workingFrom(refused, { forced: true }));
    expect(await world.coordinator.enqueue(request)).toEqual({
      ok: false,
      reason: "candidate_gone",
    });
    expect(world.coordinator.status().queued).toEqual([]);
  });

  it("fails the run without a retry if a file leaves the archive before the run starts", async () => {
    const { run } = await world.enqueue(workingFrom(refused, { forced: true }));
    world.archive.bucket.files.delete(sourceKey(refused.upstream["regions.csv.gz"]?.sha256 ?? ""));
    await world.drain();
    expect(world.run(run.id)).toMatchObject({
      state: "failed",
      retries: 0,
      error: {
        code: "candidate_gone",
        stage: "fetch",
        message: `the files of run ${refused.id} are no longer archived`,
      },
    });
    expect(await world.served()).toMatchObject({ counts: { airports: PUBLISHED } });
  });
});

describe("the upstream bytes of candidates", () => {
  const isArchived = ({ upstream }: Run) =>
    world.archive.bucket.files.has(sourceKey(upstream["airports.csv.gz"]?.sha256 ?? ""));

  beforeEach(async () => {
    world = new CoordinatorWorld();
    await world.runToEnd();
  });

  /** A run that guards refuse, of so many airports. */
  const refusedRun = async (airports: number) => {
    world.setAirports(airports);
    return world.runToEnd();
  };

  it(`stay in the archive for the newest ${REFUSED_KEPT} refused runs, and for no cancelled run`, async () => {
    const first = await refusedRun(40);
    const { run: waiting } = await world.enqueue(workingFrom(first, { forced: true }));
    await world.coordinator.cancel(waiting.id, { by: "ops", note: null });
    const later: Run[] = [];
    for (let n = 1; n <= REFUSED_KEPT; n++) later.push(await refusedRun(40 + n));
    await world.collect();
    expect([first, ...later].map(isArchived)).toEqual([false, ...later.map(() => true)]);
  });

  it("stay in the archive while a run waits for them, even if the run that fetched them is forgotten", async () => {
    const first = await refusedRun(40);
    await world.coordinator.pause({ by: "ops", note: null, until: null }, false);
    const { run: waiting } = await world.enqueue(workingFrom(first, { forced: true }));
    world.tables.sql.exec("DELETE FROM jobs WHERE id = ?", first.id);
    world.crash();
    await world.collect();
    expect(isArchived(first)).toBe(true);
    await world.coordinator.resume();
    await world.drain();
    expect(world.run(waiting.id)).toMatchObject({ outcome: "published" });
  });
});
