import { beforeEach, describe, expect, it } from "vitest";
import type { IngestCheckpoint } from "../../../src/ingest/checkpoint.ts";
import type { RunContext, IngestStepResult } from "../../../src/ingest/step.ts";
import { Pipeline } from "../../../src/ingest/pipeline.ts";
import { CoordinatorWorld } from "../../builders/coordinator-world.ts";

const PAUSE = { by: "ops", note: null, until: null };

let world: CoordinatorWorld;

beforeEach(() => {
  world = new CoordinatorWorld();
});

describe("a step whose commit fails", () => {
  it("runs again after a back-off", async () => {
    const { run } = await world.enqueue();
    await world.drain(() => world.run(run.id).stage === "parse");
    const { state } = world;
    const save = state.save.bind(state);
    let failures = 1;
    state.save = (record) => {
      if (record.attempts === 0 && failures-- > 0) throw new Error("the disk is full");
      save(record);
    };
    await world.drain();
    expect(failures).toBeLessThan(0);
    expect(world.run(run.id)).toMatchObject({ outcome: "published", retries: 1 });
    expect(world.events.map(({ event }) => event)).toContain("ingest_step_failed");
  });
});

describe("a step whose job is gone when it ends", () => {
  it("does not bring the job back", async () => {
    const { run } = await world.enqueue();
    world.before = (call) => {
      if (call === "upstream fetch") world.tables.sql.exec("DELETE FROM jobs");
    };
    await expect(world.alarm()).rejects.toThrow("is gone");
    expect(world.coordinator.findRun(run.id)).toBeNull();
  });
});

describe("a step that a pause discards", () => {
  it("clears the error of an earlier attempt from the job", async () => {
    let attempts = 0;
    class Publishing extends Pipeline {
      override async step(
        checkpoint: IngestCheckpoint,
        context: RunContext,
      ): Promise<IngestStepResult> {
        if (checkpoint.stage === "publish" && ++attempts === 1) throw new Error("no connection");
        if (attempts === 2) await world.coordinator.pause(PAUSE, false);
        return super.step(checkpoint, context);
      }
    }
    world = new CoordinatorWorld({ makePipeline: (deps) => new Publishing(deps) });
    const { run } = await world.enqueue();
    await world.drain();
    const held = { state: "running", stage: "publish", generation_after: null };
    expect(world.run(run.id)).toMatchObject({ ...held, retries: 1, error: null });
  });
});

describe("a job", () => {
  it("keeps its start time through all of its steps", async () => {
    const { run } = await world.enqueue();
    await world.alarm();
    const { started_at } = world.run(run.id);
    await world.drain(() => {
      world.time += 1_000;
      return false;
    });
    expect(started_at).not.toBeNull();
    expect(world.run(run.id)).toMatchObject({ state: "succeeded", started_at });
  });
});

describe("a cancellation", () => {
  beforeEach(async () => {
    await world.runToEnd();
    world.renameAirport("Kloten");
  });

  it("ends a run whose step fails at that moment as cancelled, without a retry", async () => {
    const run = await world.runUpTo("fetch");
    world.before = async (call) => {
      if (call !== "upstream fetch") return;
      await world.coordinator.cancel(run.id, { by: "ana", note: null });
      throw new Error("no connection");
    };
    await world.alarm();
    expect(world.run(run.id)).toMatchObject({ state: "cancelled", retries: 0, error: null });
  });

  it("does not wait for the back-off of a failed step", async () => {
    const run = await world.runUpTo("encode");
    world.before = () => {
      throw new Error("no connection");
    };
    await world.alarm();
    expect(world.alarmAt).toBeGreaterThan(world.time);
    world.before = () => {};
    await world.coordinator.cancel(run.id, { by: "ana", note: null });
    await world.alarm();
    expect(world.run(run.id)).toMatchObject({ state: "cancelled" });
  });

  it("ends a run whose step died in a crash, even while ingestion is paused", async () => {
    const run = await world.runUpTo("encode");
    world.before = async () => {
      await world.coordinator.pause(PAUSE, true);
      world.crash();
    };
    await world.alarm();
    world.before = () => {};
    expect(world.run(run.id)).toMatchObject({ state: "running" });
    await world.drain();
    expect(world.run(run.id)).toMatchObject({ state: "cancelled" });
  });
});
