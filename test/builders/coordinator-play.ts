/** Random operations on a coordinator, played beside a reference model of what must be so. */
import { expect } from "vitest";
import { QUEUE_MAX_DEPTH } from "../../src/coordinator/run-queue.ts";
import { checkInvariants } from "../chaos/invariants.ts";
import { Recorder } from "./coordinator-recorder.ts";
import type { Operation } from "./coordinator-operations.ts";
import { CoordinatorWorld } from "./coordinator-world.ts";
import { QuickPipeline } from "./quick-pipeline.ts";
import { anEnqueueRequest } from "./run.ts";

/** The linter knows `expect` inside of test blocks only. */
const must = expect;

type Mishap = Extract<Operation, { readonly do: "step" }>["mishap"];

/** Plays operations on a coordinator, beside a reference model of what must be so. */
export class Play {
  readonly world = new CoordinatorWorld({ makePipeline: (deps) => new QuickPipeline(deps) });
  readonly #recorder = new Recorder(this.world);
  /** Until when the model is paused: Infinity for an operator's resume, null if it is not. */
  #pausedUntil: number | null = null;
  /** The ticks that were taken to be known. */
  readonly #ticks = new Set<number>();
  /** The version at the beginning of the present pause, if it lasts to the end of the operation. */
  #heldAt: number | null = null;
  /** How often what has been seen. */
  readonly #seen: Map<string, number>;

  constructor(seen: Map<string, number>) {
    this.#seen = seen;
  }

  async play(operation: Operation): Promise<void> {
    this.#notePause();
    await this.#do(operation);
    await this.#recorder.observe();
    this.#checkPause();
  }

  /** Remembers the version from which on no run may publish. */
  #notePause(): void {
    this.#heldAt = this.#isPaused() ? (this.world.current()?.generation ?? 0) : null;
  }

  #checkPause(): void {
    const { world } = this;
    const { pause, current, running, queued } = world.coordinator.status();
    must(pause !== null).toBe(this.#isPaused());
    // I6: what is open is held by a pause, or the alarm is set for it.
    if ((running !== null || queued.length > 0) && pause === null)
      must(world.alarmAt).not.toBeNull();
    if (this.#heldAt === null) return;
    const generations = { before: this.#heldAt, after: current?.generation ?? 0 };
    this.#recorder.operated.pauses.push({ from: world.time, to: world.time, ...generations });
  }

  /** Publishes a version. */
  async publish(text: string): Promise<void> {
    await this.play({ do: "change", text });
    const run = { mode: "incremental", forced: false, source: "embedded" } as const;
    await this.play({ do: "enqueue", ...run, reject: false });
    await this.#goOn();
  }

  /** Lets alarms fire until none is set. */
  async #goOn(most = 500): Promise<void> {
    for (let alarms = 0; this.world.alarmAt !== null && alarms < most; alarms++)
      await this.play({ do: "step", late: false, mishap: null });
  }

  /** Ends all mishaps and pauses, lets everything come to its end, and looks at it. */
  async settle(): Promise<void> {
    const { world } = this;
    await this.play({ do: "resume" });
    await this.#goOn();
    for (const hours of [1, 24]) {
      await this.play({ do: "reconcile", hours });
      await this.#goOn();
    }
    must(world.alarmAt).toBeNull();
    const settled = { queued: [], running: null, replicated: true, outboxLength: 0 };
    must(world.coordinator.status()).toMatchObject(settled);
    must(checkInvariants(await this.#recorder.evidence())).toEqual([]);
    for (const { run } of world.history.rows.values()) this.#note(run.outcome ?? run.state);
    for (const { event } of world.events) this.#note(event);
    for (const _ of this.#recorder.operated.rollbacks) this.#note("rollback");
    const firstAlarm = world.calls.length;
    await world.alarm();
    must(world.calls.slice(firstAlarm).filter((call) => / (put|fetch)/.test(call))).toEqual([]);
  }

  #note(what: string): void {
    this.#seen.set(what, (this.#seen.get(what) ?? 0) + 1);
  }

  async #do(operation: Operation): Promise<void> {
    const { world } = this;
    switch (operation.do) {
      case "enqueue":
        return this.#enqueue(operation);
      case "pause":
        return this.#pause(operation.forMs, operation.cancelRunning);
      case "resume":
        return this.#resume();
      case "reconcile":
        world.time += operation.hours * 3_600_000;
        return world.coordinator.reconcile();
      case "tick":
        return this.#tick(operation.at);
      case "cancel":
        return this.#cancel(operation.which);
      case "rollback":
        return this.#rollback(operation.back);
      case "pass":
        world.time += operation.ms;
        return;
      case "change":
        return this.#change(operation.text);
      case "crash":
        return world.crash();
      case "go_on":
        return this.#goOn(8);
      case "step":
        return this.#step(operation.late, operation.mishap);
      default:
        return operation satisfies never;
    }
  }

  #change(text: string): void {
    const bytes = new TextEncoder().encode(text);
    const fetch = async () => [{ name: "text", bytes }];
    this.world.upstream = { ...this.world.upstream, fetch };
  }

  async #enqueue(operation: Extract<Operation, { do: "enqueue" }>): Promise<void> {
    const { mode, forced, source, reject } = operation;
    const result = await this.world.coordinator.enqueue(
      anEnqueueRequest({ mode, forced, source, ifPaused: reject ? "reject" : "queue" }),
    );
    if (result.ok) this.#recorder.operated.acknowledged.add(result.answer.run.id);
    else if (result.reason === "paused") must(this.#isPaused() && reject).toBe(true);
  }

  async #pause(forMs: number | null | "kept", cancelRunning: boolean): Promise<void> {
    const { world } = this;
    const endsAt = typeof forMs === "number" ? world.time + forMs : Infinity;
    const until = endsAt === Infinity ? null : new Date(endsAt).toISOString();
    const request = { by: "ops", note: null, ...(forMs !== "kept" && { until }) };
    await world.coordinator.pause(request, cancelRunning);
    const present = this.#isPaused() ? this.#pausedUntil : null;
    this.#pausedUntil = forMs === "kept" ? (present ?? Infinity) : endsAt;
  }

  async #resume(): Promise<void> {
    const wasPaused = this.#isPaused();
    const { changed } = await this.world.coordinator.resume();
    must(changed).toBe(wasPaused);
    this.#pausedUntil = null;
  }

  async #tick(at: number): Promise<void> {
    const { coordinator } = this.world;
    const before = coordinator.status().queued;
    await coordinator.tick("17 4 * * *", at, anEnqueueRequest({ trigger: "cron" }));
    const waits = before.some(
      (run) => run.mode === "incremental" && !run.forced && run.source === "embedded",
    );
    const isTaken = !this.#ticks.has(at) && !this.#isPaused() && !waits;
    const isFull = before.length >= QUEUE_MAX_DEPTH;
    must(coordinator.status().queued.length - before.length).toBe(isTaken && !isFull ? 1 : 0);
    this.#ticks.add(at);
  }

  async #cancel(which: number): Promise<void> {
    const { coordinator } = this.world;
    const { running, queued } = coordinator.status();
    const run = [...(running ? [running] : []), ...queued][which];
    const result = await coordinator.cancel(run?.id ?? "nobody", { by: "ops", note: null });
    if (result.ok) this.#recorder.operated.cancelled.add(result.run.id);
    if (run === undefined) must(result).toEqual({ ok: false, reason: "not_found" });
    else if (run.state === "queued")
      must(result).toMatchObject({ ok: true, changed: true, run: { state: "cancelled" } });
    else if (run.generation_after !== null) must(result).toEqual({ ok: false, reason: "too_late" });
    else must(result.ok).toBe(true);
  }

  async #rollback(back: number): Promise<void> {
    const { coordinator } = this.world;
    const current = this.world.current();
    const target = (current?.generation ?? 0) - back;
    const wanted = this.world.state.findRetained(target);
    const result = await coordinator.rollback(target);
    if (wanted === undefined) must(result).toEqual({ ok: false, reason: "not_retained" });
    else if (wanted.catalog_sha256 === current?.catalog_sha256)
      must(result).toMatchObject({ ok: true, changed: false });
    else {
      const generation = current ? current.generation + 1 : 0;
      must(result).toMatchObject({ ok: true, version: { generation } });
      this.#recorder.operated.rollbackAttempts++;
      this.#recorder.operated.rollbacks.set(generation, target);
    }
  }

  /** Lets the alarm fire: at its time or late, never early, and also when none is set. */
  async #step(late: boolean, mishap: Mishap): Promise<void> {
    const { world } = this;
    const at = Math.max(world.time, world.alarmAt ?? 0);
    world.time = late ? at + 45_000 : at;
    // What is done at a call decides whether the step was paused all through.
    this.#notePause();
    let calls = -1;
    world.before = async (call) => {
      calls++;
      if (mishap === null || calls < mishap.after || calls >= mishap.after + mishap.times) return;
      if (mishap.kind === "fault") throw new Error(`no connection for ${call}`);
      if (calls > mishap.after) return;
      if (mishap.kind === "crash") world.crash();
      if (mishap.kind === "pause") {
        await this.#pause("kept", false);
        this.#notePause();
      }
      if (mishap.kind === "cancel") await this.#cancel(0);
      if (mishap.kind === "rollback") await this.#rollback(1);
    };
    world.after = () => {
      if (mishap?.kind === "lost_reply") throw new Error("the reply was lost");
    };
    await world.alarm();
    world.before = () => {};
    world.after = () => {};
  }

  #isPaused(): boolean {
    return this.#pausedUntil !== null && this.world.time < this.#pausedUntil;
  }
}
