import { beforeEach, describe, expect, it } from "vitest";
import type { Checkpoint, RunContext, StepResult } from "../../../src/ingest/checkpoint.ts";
import { Pipeline, type PipelineDependencies } from "../../../src/ingest/pipeline.ts";
import type { Run } from "../../../src/coordinator/run.ts";
import { STAGES } from "../../../src/ingest/report.ts";
import { CoordinatorWorld, START } from "../../builders/coordinator-world.ts";

const PAUSE = { by: "ops", note: null, until: null };
const BEFORE_VERIFY = STAGES.filter((stage) => stage !== "verify");

/** Reads once before it publishes, so that something can happen meanwhile. */
class SlowPublish extends Pipeline {
  readonly #store: PipelineDependencies["store"];

  constructor(deps: PipelineDependencies) {
    super(deps);
    this.#store = deps.store;
  }

  override async step(checkpoint: Checkpoint, context: RunContext): Promise<StepResult> {
    if (checkpoint.stage === "publish") await this.#store.readManifest("r2");
    return super.step(checkpoint, context);
  }
}

let world: CoordinatorWorld;

beforeEach(async () => {
  world = new CoordinatorWorld({ makePipeline: (deps) => new SlowPublish(deps) });
  await world.runToEnd();
  world.renameAirport("Kloten");
});

/** How often the log says that a run has ended. */
function endsLogged({ id }: Pick<Run, "id">): number {
  const lines = world.events.filter(({ event }) => event === "ingest_ended");
  return lines.filter(({ fields }) => "run_id" in fields && fields.run_id === id).length;
}

/** The stages of the steps of a run that the log says are done. */
function stepsLogged({ id }: Run): string[] {
  return world.events
    .filter(({ event }) => event === "ingest_step")
    .map(({ fields }) => fields as { run_id: string; stage: string }) // what such a line has
    .filter(({ run_id }) => run_id === id)
    .map(({ stage }) => stage);
}

/** Does something at the first call of the next step. It has lost its memory, so that it makes one. */
async function duringNextStep(act: () => Promise<unknown>): Promise<void> {
  world.crash();
  let acted: Promise<unknown> | undefined;
  world.before = async (call) => {
    expect(acted !== undefined || !call.startsWith("d1 ")).toBe(true);
    acted ??= act();
    await acted;
  };
  await world.alarm();
  world.before = () => {};
  expect(acted).toBeDefined();
}

describe("a pause", () => {
  it.each(BEFORE_VERIFY)(
    "before the %s step holds it; after the resume it goes on",
    async (stage) => {
      const run = await world.runUpTo(stage);
      const served = await world.served();
      await world.coordinator.pause(PAUSE, false);
      world.crash();
      const calls = world.calls.length;
      await world.drain();
      for (let late = 0; late < 3; late++) await world.alarm();
      expect(world.calls.slice(calls).filter((call) => !call.startsWith("d1 "))).toEqual([]);
      expect(world.nextStage(run.id)).toBe(stage);
      expect(await world.served()).toEqual(served);
      await world.coordinator.resume();
      await world.drain();
      expect(world.run(run.id)).toMatchObject({ state: "succeeded", outcome: "published" });
      expect(await world.served()).toMatchObject({ generation: 2, previous: 1 });
    },
  );

  it.each(BEFORE_VERIFY)("during the %s step stops the run at the next boundary", async (stage) => {
    const run = await world.runUpTo(stage);
    const served = await world.served();
    await duringNextStep(() => world.coordinator.pause(PAUSE, false));
    await world.drain();
    await world.alarm();
    expect(world.run(run.id)).toMatchObject({ state: "running", generation_after: null });
    expect(await world.served()).toEqual(served);
    expect(world.current()?.generation).toBe(1);
    await world.coordinator.resume();
    await world.drain();
    expect(world.run(run.id)).toMatchObject({ outcome: "published", generation_after: 2 });
    // The log tells of it once, also where it was held when it was about to publish.
    expect(stepsLogged(run).filter((logged) => logged === "publish")).toHaveLength(1);
  });

  it("lets what is recorded as published reach the stores", async () => {
    const run = await world.runUpTo("verify");
    await world.coordinator.pause(PAUSE, false);
    await world.drain();
    expect(world.run(run.id)).toMatchObject({ state: "succeeded" });
    expect(await world.served()).toMatchObject({ generation: 2 });
  });

  it("lifts itself at its time, and what waited goes on", async () => {
    const until = new Date(START + 3_600_000).toISOString();
    await world.coordinator.pause({ ...PAUSE, until }, false);
    const { run, ...answer } = await world.enqueue();
    expect(answer).toMatchObject({ changed: true, will_start: "on_resume" });
    await world.drain(() => world.run(run.id).state !== "queued");
    expect(world.time).toBe(START + 3_600_000);
    await world.drain();
    expect(world.run(run.id)).toMatchObject({ state: "succeeded" });
    expect(world.coordinator.status().pause).toBeNull();
  });
});

describe("a cancel", () => {
  it("of a run that waits ends it at once", async () => {
    const { run } = await world.enqueue();
    const result = await world.coordinator.cancel(run.id, { by: "ana", note: "not now" });
    expect(result).toMatchObject({
      ok: true,
      changed: true,
      run: { state: "cancelled", cancellation: { by: "ana", note: "not now" } },
    });
    await world.drain();
    expect(world.callsOf("upstream fetch")).toHaveLength(1);
    expect(world.history.stateOf(run.id)).toBe("cancelled");
    expect(endsLogged(run)).toBe(0);
  });

  it.each(BEFORE_VERIFY.slice(1))("before the %s step ends the run at once", async (stage) => {
    const run = await world.runUpTo(stage);
    const result = await world.coordinator.cancel(run.id, { by: "ana", note: null });
    expect(result).toMatchObject({ ok: true, changed: true, run: { state: "cancelled" } });
    await world.drain();
    expect(endsLogged(run)).toBe(1);
    expect(world.run(run.id)).toMatchObject({ state: "cancelled", outcome: null });
    expect(await world.served()).toMatchObject({ generation: 1 });
  });

  it.each(["fetch", "encode"] as const)(
    "during the %s step ends it at the next boundary",
    async (stage) => {
      const run = await world.runUpTo(stage);
      await duringNextStep(async () => {
        for (const changed of [true, false]) {
          const result = await world.coordinator.cancel(run.id, { by: "ana", note: null });
          const running = { state: "running", cancellation: { by: "ana" } };
          expect(result).toMatchObject({ ok: true, changed, run: running });
        }
      });
      expect(world.run(run.id)).toMatchObject({ state: "cancelled" });
      await world.drain();
      expect(endsLogged(run)).toBe(1);
      expect(await world.served()).toMatchObject({ generation: 1 });
    },
  );

  it("during the publish step leaves no generation to the run, which published none", async () => {
    const run = await world.runUpTo("publish");
    await duringNextStep(() => world.coordinator.cancel(run.id, { by: "ana", note: null }));
    expect(world.run(run.id)).toMatchObject({ state: "cancelled", generation_after: null });
    expect(world.current()?.generation).toBe(1);
  });

  it("by a pause between two steps is told of as well", async () => {
    const run = await world.runUpTo("encode");
    const answer = await world.coordinator.pause(PAUSE, true);
    expect(answer).toMatchObject({
      runningRunId: null,
      cancelled: { ok: true, run: { id: run.id, state: "cancelled" } },
    });
    await world.drain();
    expect(world.run(run.id)).toMatchObject({ state: "cancelled" });
    expect(endsLogged(run)).toBe(1);
  });

  it("during a step that fails ends the run as cancelled, and it is not tried again", async () => {
    const run = await world.runUpTo("fetch");
    world.before = async (call) => {
      if (call !== "upstream fetch") return;
      await world.coordinator.cancel(run.id, { by: "ana", note: null });
      throw new Error("no connection");
    };
    await world.alarm();
    const error = { stage: "fetch", message: "Error: no connection" };
    expect(world.run(run.id)).toMatchObject({ state: "cancelled", retries: 0, error });
  });

  it("between two attempts at a step leaves the fault in the run", async () => {
    const run = await world.runUpTo("fetch");
    let failures = 1;
    world.before = (call) => {
      if (call === "upstream fetch" && failures-- > 0) throw new Error("no connection");
    };
    await world.alarm();
    const error = { stage: "fetch", message: "Error: no connection" };
    expect(world.run(run.id)).toMatchObject({ state: "running", error });
    await world.coordinator.cancel(run.id, { by: "ana", note: null });
    expect(world.run(run.id)).toMatchObject({ state: "cancelled", error });
    failures = 1;
    expect(await world.runToEnd()).toMatchObject({ state: "succeeded", retries: 1, error: null });
  });

  it("ends a run whose step died with the coordinator, also while paused", async () => {
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

  it("comes too late once the run has published", async () => {
    const run = await world.runUpTo("verify");
    const result = await world.coordinator.cancel(run.id, { by: "ana", note: null });
    expect(result).toEqual({ ok: false, reason: "too_late" });
    const { cancelled } = await world.coordinator.pause(PAUSE, true);
    expect(cancelled).toEqual({ ok: false, reason: "too_late" });
    await world.drain();
    expect(world.run(run.id)).toMatchObject({ state: "succeeded", outcome: "published" });
  });
});
