import { beforeEach, describe, expect, it } from "vitest";
import { STAGES } from "../../../src/schemas/run-words.ts";
import { AIRPORTS_AT_FIRST, CoordinatorWorld, START } from "../../builders/coordinator-world.ts";
import { anEnqueueRequest } from "../../builders/run.ts";

const CRON = "17 4 * * *";

let world: CoordinatorWorld;

beforeEach(() => {
  world = new CoordinatorWorld();
});

const lines = (event: string) => world.events.filter((line) => line.event === event);
const tick = (at: number) =>
  world.coordinator.tick(CRON, at, anEnqueueRequest({ trigger: "cron" }));

describe("the log", () => {
  it("has a line for each finished step, with its stage and duration", async () => {
    const { id } = await world.runToEnd();
    const stages = lines("ingest_step").map(({ fields }) => (fields as { stage: string }).stage);
    expect([...new Set(stages)]).toEqual([...STAGES]);
    expect(lines("ingest_step")[0]).toMatchObject({
      level: "info",
      fields: { run_id: id, trigger: "manual", duration_ms: 0 },
    });
    const stepOf = (stage: string) =>
      lines("ingest_step").findLast((line) => (line.fields as { stage: string }).stage === stage);
    expect(stepOf("parse")).toMatchObject({ fields: { filtered: 0, rejects: 0 } });
    const added = AIRPORTS_AT_FIRST;
    expect(stepOf("guard")).toMatchObject({ fields: { counts: { airports: { added } } } });
    const { total } = world.run(id).progress;
    expect(stepOf("encode")).toMatchObject({ fields: { progress: { done: total, total } } });
    expect(lines("ingest_ended")).toMatchObject([
      { level: "info", fields: { run_id: id, outcome: "published", duration_ms: 0 } },
    ]);
  });

  it("warns of a failed step that will be repeated", async () => {
    let refusals = 1;
    world.before = (call) => {
      if (!call.startsWith("kv put catalog/blob/") || refusals-- <= 0) return;
      world.time += 40;
      throw new Error("429");
    };
    const { id } = await world.runToEnd();
    expect(lines("ingest_step_failed")).toMatchObject([
      {
        level: "warn",
        fields: {
          run_id: id,
          stage: "encode",
          duration_ms: 40,
          error_code: "store_fault",
          attempt: 1,
          error: expect.stringMatching(/^StoreError: KV put catalog\/blob\/.*: Error: 429$/),
        },
      },
    ]);
  });

  it("agrees with the durations of the stages that the run shows", async () => {
    let refusals = 2;
    world.before = (call) => {
      if (call.startsWith("kv put catalog/blob/")) world.time += 40;
      if (call.startsWith("kv put catalog/blob/") && refusals-- > 0) throw new Error("429");
    };
    const { id } = await world.runToEnd();
    const { stage_ms: took = {} } = world.run(id);
    expect(Object.keys(took)).toEqual([...STAGES]);
    const steps = [...lines("ingest_step"), ...lines("ingest_step_failed")].map(
      ({ fields }) => fields as { readonly stage: string; readonly duration_ms: number },
    );
    for (const [stage, ms] of Object.entries(took)) {
      const durations = steps.filter((step) => step.stage === stage);
      expect(
        durations.reduce((sum, step) => sum + step.duration_ms, 0),
        stage,
      ).toBe(ms);
    }
    expect(took.encode).toBeGreaterThan(80);
  });

  it("warns of the step whose guard trips, and has an error for the end of the run", async () => {
    await world.runToEnd();
    world.setAirports(40);
    const { id } = await world.runToEnd();
    const expected = { run_id: id, stage: "guard", error_code: "guard_change" };
    expect(lines("ingest_step_failed")).toMatchObject([{ level: "warn", fields: expected }]);
    expect(lines("ingest_ended").at(-1)).toMatchObject({
      level: "error",
      fields: { ...expected, state: "failed", error: expect.stringContaining("airports 20") },
    });
  });

  it("has one line for each tick, taken or skipped", async () => {
    await tick(START);
    await tick(START);
    await tick(START + 1);
    await tick(START + 2);
    const at = new Date(START).toISOString();
    const [queued] = world.coordinator.status().queued;
    const skipped = world.state.runs().find(({ state }) => state === "skipped");
    expect(lines("ingest_tick_taken")).toMatchObject([
      { level: "info", fields: { cron: CRON, scheduled_at: at, run_id: queued?.id } },
    ]);
    expect(lines("ingest_tick_skipped").map(({ fields }) => fields)).toMatchObject([
      { reason: "known", scheduled_at: at },
      { reason: "already_queued", skip_count: 1, run_id: skipped?.id },
      { reason: "already_queued", skip_count: 2, run_id: skipped?.id },
    ]);
  });
});
