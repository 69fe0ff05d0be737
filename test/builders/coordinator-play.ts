/** Random operations on a coordinator, played beside a reference model of what must be so. */
import fc from "fast-check";
import { expect } from "vitest";
import { type Manifest, manifestBlobs } from "../../src/catalog/manifest.ts";
import { QUEUE_MAX_DEPTH } from "../../src/ingest/queue.ts";
import { type Run, RUN_MODES, type RunMode } from "../../src/ingest/run.ts";
import { isOpen } from "../../src/jobs/job-record.ts";
import { blobKey, GENERATIONS_PREFIX, MANIFEST_KEY } from "../../src/storage/keys.ts";
import { textOf } from "./memory-catalog-store.ts";
import { CoordinatorWorld } from "./coordinator-world.ts";
import { QuickPipeline } from "./quick-pipeline.ts";
import { anEnqueueRequest } from "./run.ts";

/** The linter knows `expect` inside of test blocks only. */
const must = expect;

/** What people and the world do to a coordinator. */
export type Operation =
  | {
      readonly do: "enqueue";
      readonly mode: RunMode;
      readonly forced: boolean;
      readonly source: (typeof SOURCES)[number];
      readonly reject: boolean;
    }
  | {
      readonly do: "pause";
      /** Null for without end, `kept` for as the present pause has it. */
      readonly forMs: number | null | "kept";
      readonly cancelRunning: boolean;
    }
  | { readonly do: "resume" | "crash" | "go_on" | "outage" }
  | { readonly do: "reconcile"; readonly hours: number }
  | { readonly do: "tick"; readonly at: number }
  | { readonly do: "cancel"; readonly which: number }
  | { readonly do: "rollback"; readonly back: number }
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "change"; readonly text: string }
  | { readonly do: "step"; readonly late: boolean; readonly mishap: Mishap | null };

/** What happens at a call of a step. */
interface Mishap {
  /** In an outage upstream can be reached, as nothing else can. */
  readonly kind:
    "fault" | "outage" | "crash" | "pause" | "cancel" | "rollback" | "lost_reply" | "overtaken";
  /** Calls of the step before it. */
  readonly after: number;
  /** Calls in a row that a fault hits. */
  readonly times: number;
}

const anyMishap: fc.Arbitrary<Mishap> = fc.record({
  kind: fc.constantFrom(
    "fault",
    "fault",
    "crash",
    "pause",
    "cancel",
    "rollback",
    "lost_reply",
    "overtaken",
  ),
  after: fc.nat(3),
  times: fc.constantFrom(1, 1, 3, 100),
});

/** The stores and D1 answer nothing at all. */
const OUTAGE: Mishap = { kind: "outage", after: 0, times: 100 };

const SOURCES = ["embedded", "other"] as const;

/** How late a store may carry out what it seemed to refuse. */
const LATE_MS = 59_000;
/** How long a second try waits where upstream does not ask for more. */
const SECOND_TRY_MS = 60_000;

/** What a store will yet do. */
interface LateChange {
  readonly at: number;
  readonly carryOut: () => void;
}

export const anyOperation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("step"),
      late: fc.boolean(),
      mishap: fc.option(anyMishap, { freq: 4 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("enqueue"),
      mode: fc.constantFrom(...RUN_MODES),
      forced: fc.boolean(),
      source: fc.constantFrom(...SOURCES),
      reject: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("change"),
      text: fc.constantFrom("a", "b", "c", "bad a", "bad b"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("pause"),
      forMs: fc.constantFrom<number | null | "kept">("kept", null, 0, 1_000, 40_000),
      cancelRunning: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("resume", "crash") }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("go_on") }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("outage") }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("reconcile"), hours: fc.constantFrom(0, 1, 25) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("tick"), at: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel"), which: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("rollback"), back: fc.nat(3) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("pass"), ms: fc.constantFrom(500, 50_000) }),
  },
);

/** Plays operations on a coordinator, beside a reference model of what must be so. */
export class Play {
  readonly world = new CoordinatorWorld({ makePipeline: (deps) => new QuickPipeline(deps) });
  /** Until when the model is paused: Infinity for an operator's resume, null if it is not. */
  #pausedUntil: number | null = null;
  /** Runs that were acknowledged. */
  readonly #acknowledged = new Set<string>();
  /** Runs that have ended, as they were then. */
  readonly #ended = new Map<string, Run>();
  /** Every version that was ever recorded. */
  readonly #published = new Map<number, Manifest>();
  /** Which manifests stores were asked to write, and have not written yet. */
  #late: LateChange[] = [];
  /** When runs were said to start, at the earliest. */
  readonly #promised = new Map<string, number>();
  /** The ticks that were taken to be known. */
  readonly #ticks = new Set<number>();
  #rolledBack = new Set<number>();
  #highest = { kv: 0, r2: 0, recorded: 0 };
  #pausedThroughout = false;
  /** How often what has been seen. */
  readonly #seen: Map<string, number>;

  constructor(seen: Map<string, number>) {
    this.#seen = seen;
  }

  async play(operation: Operation): Promise<void> {
    this.#pausedThroughout = this.#isPaused();
    await this.#do(operation);
    await this.#check();
  }

  /** Publishes a version. */
  async publish(text: string): Promise<void> {
    await this.play({ do: "change", text });
    const run = { mode: "incremental", forced: false, source: "embedded" } as const;
    await this.play({ do: "enqueue", ...run, reject: false });
    while (this.world.alarmAt !== null) await this.play({ do: "step", late: false, mishap: null });
  }

  /** Ends all mishaps and pauses, lets everything come to its end, and looks at it. */
  async settle(): Promise<void> {
    const { world } = this;
    await this.play({ do: "resume" });
    for (let alarms = 0; world.alarmAt !== null; alarms++) {
      must(alarms).toBeLessThan(500);
      await this.play({ do: "step", late: false, mishap: null });
    }
    await this.play({ do: "pass", ms: LATE_MS });
    for (const hours of [1, 24]) {
      await this.play({ do: "reconcile", hours });
      while (world.alarmAt !== null) await this.play({ do: "step", late: false, mishap: null });
    }
    const { queued, running, replicated, outboxLength } = world.coordinator.status();
    must({ queued, running, replicated, outboxLength }).toEqual({
      queued: [],
      running: null,
      replicated: true,
      outboxLength: 0,
    });
    for (const id of this.#acknowledged) {
      const run = world.run(id);
      must(isOpen(run.state)).toBe(false); // I3
      must(world.history.rows.get(id)?.run).toEqual(run);
    }
    must(await world.served()).toEqual(world.current()); // the stores have caught up
    for (const { run } of world.history.rows.values()) this.#note(run.outcome ?? run.state);
    for (const { event } of world.events) this.#note(event);
    for (const _ of this.#rolledBack) this.#note("rollback");
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
        this.#passTo(world.time + operation.hours * 3_600_000);
        return world.coordinator.reconcile();
      case "tick":
        return this.#tick(operation.at);
      case "cancel":
        return this.#cancel(operation.which);
      case "rollback":
        return this.#rollback(operation.back);
      case "pass":
        this.#passTo(world.time + operation.ms);
        return;
      case "change":
        world.upstream = {
          name: "embedded",
          fetch: async () => [{ name: "text", bytes: new TextEncoder().encode(operation.text) }],
        };
        return;
      case "crash":
        return world.crash();
      case "go_on":
        for (let alarms = 0; world.alarmAt !== null && alarms < 8; alarms++)
          await this.play({ do: "step", late: false, mishap: null });
        return;
      case "outage":
        return this.#outage();
      case "step":
        return this.#step(operation.late, operation.mishap);
      default:
        return operation satisfies never;
    }
  }

  /** Asks for every run that there can be: more than the queue takes. */
  async flood(): Promise<void> {
    for (const source of SOURCES)
      for (const mode of RUN_MODES)
        for (const forced of [false, true])
          await this.play({ do: "enqueue", mode, forced, source, reject: false });
  }

  /** Lets steps fail until a second try waits, and asks for the same once more. */
  async #outage(): Promise<void> {
    const { world } = this;
    for (let alarms = 0; world.alarmAt !== null && alarms < 8; alarms++) {
      const { queued } = world.coordinator.status();
      const second = queued.find((run) => dueAt(run) > world.time);
      if (second !== undefined) {
        const { mode, forced } = second;
        const source = SOURCES.find((name) => name === second.source) ?? SOURCES[0];
        return this.play({ do: "enqueue", mode, forced, source, reject: false });
      }
      await this.play({ do: "step", late: false, mishap: OUTAGE });
    }
  }

  async #enqueue({
    mode,
    forced,
    source,
    reject,
  }: Extract<Operation, { do: "enqueue" }>): Promise<void> {
    const { world } = this;
    const before = world.coordinator.status();
    const result = await world.coordinator.enqueue(
      anEnqueueRequest({ mode, forced, source, ifPaused: reject ? "reject" : "queue" }),
    );
    const same = before.queued.findIndex(
      (run) => run.mode === mode && run.forced === forced && run.source === source,
    );
    const due = before.queued.filter((run) => dueAt(run) <= world.time).length;
    const index = same === -1 ? due : same;
    const ahead = index === 0 ? before.running : before.queued[index - 1];
    const queueDepth = before.queued.length + (same === -1 ? 1 : 0);
    if (this.#isPaused() && reject) {
      must(result).toMatchObject({ ok: false, reason: "paused" });
    } else if (same === -1 && queueDepth > QUEUE_MAX_DEPTH) {
      must(result).toMatchObject({ ok: false, reason: "queue_full" });
      this.#note("queue_full");
    } else {
      const start = ahead ? `after_run:${ahead.id}` : this.#firstStart(before.queued[same]);
      must(result).toMatchObject({
        ok: true,
        answer: {
          changed: same === -1,
          willStart: this.#isPaused() ? "on_resume" : start,
          queuePosition: index + 1,
          queueDepth,
          paused: this.#isPaused(),
        },
      });
      if (!result.ok) return;
      const { run, willStart } = result.answer;
      this.#acknowledged.add(run.id);
      if (willStart.startsWith("at:")) {
        this.#note("told a time");
        this.#promised.set(run.id, Date.parse(willStart.slice("at:".length)));
      }
    }
  }

  /** When a run starts that is the first: a second try at its time. */
  #firstStart(waiting: Run | undefined): unknown {
    const { time } = this.world;
    const startsAt = waiting === undefined ? 0 : dueAt(waiting);
    return startsAt > time ? `at:${new Date(startsAt).toISOString()}` : "now";
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
    if (run === undefined) must(result).toEqual({ ok: false, reason: "not_found" });
    else if (run.state === "queued")
      must(result).toMatchObject({ ok: true, changed: true, run: { state: "cancelled" } });
    else if (run.generation_after !== null) must(result).toEqual({ ok: false, reason: "too_late" });
    else must(result.ok).toBe(true);
  }

  async #rollback(back: number): Promise<void> {
    const { coordinator } = this.world;
    const current = coordinator.status().current?.generation ?? 0;
    const isShown = this.#isShown(current - back);
    const result = await coordinator.rollback(current - back);
    const retained = this.world.state.findVersion(current - back) !== undefined;
    if (!retained) must(result).toEqual({ ok: false, reason: "not_retained" });
    else if (isShown) must(result).toMatchObject({ ok: true, changed: false });
    else {
      must(result).toMatchObject({ ok: true, version: { generation: current + 1 } });
      this.#rolledBack.add(current + 1);
    }
  }

  /** Whether a version says what the current one does. */
  #isShown(generation: number): boolean {
    const { coordinator } = this.world;
    const current = coordinator.status().current?.generation ?? 0;
    const [shown, other] = [current, generation].map((name) => this.world.state.findVersion(name));
    return shown?.catalog_sha256 === other?.catalog_sha256;
  }

  /** Lets the alarm fire: at its time or late, never early, and also when none is set. */
  async #step(late: boolean, mishap: Mishap | null): Promise<void> {
    const { world } = this;
    const at = Math.max(world.time, world.alarmAt ?? 0);
    this.#passTo(late ? at + 45_000 : at);
    // What is done at a call decides whether the step was paused all through.
    this.#pausedThroughout = this.#isPaused();
    let calls = -1;
    world.before = async (call) => {
      calls++;
      if (mishap === null || calls < mishap.after || calls >= mishap.after + mishap.times) return;
      if (mishap.kind === "outage" && call === "upstream fetch") return;
      const isFault = mishap.kind === "fault" || mishap.kind === "outage";
      if (isFault || mishap.kind === "crash") this.#mayComeLate(call);
      if (isFault) throw new Error(`no connection for ${call}`);
      if (calls > mishap.after) return;
      if (mishap.kind === "crash") world.crash();
      if (mishap.kind === "overtaken") await world.alarm();
      if (mishap.kind === "pause") {
        this.#findPublished();
        await this.#pause("kept", false);
        this.#pausedThroughout = true;
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

  /** Lets time pass, and stores do late what they seemed to have refused. */
  #passTo(time: number): void {
    this.world.time = time;
    const due = this.#late.filter(({ at }) => at <= time);
    this.#late = this.#late.filter(({ at }) => at > time);
    for (const { carryOut } of due) carryOut();
  }

  /** Remembers a call that is not answered, if it writes the manifest. */
  #mayComeLate(call: string): void {
    const { world } = this;
    const at = world.time + LATE_MS;
    const [, into] = /^(kv|r2) put catalog\/manifest$/.exec(call) ?? [];
    if (into !== "kv" && into !== "r2") return;
    const prefix = `r2 put ${GENERATIONS_PREFIX}`;
    const written = world.calls.findLast((made) => made.startsWith(prefix));
    const generation = Number(written?.slice(prefix.length));
    const manifest = this.world.state.findVersion(generation);
    if (manifest === undefined) return;
    const carryOut = () => {
      world.store[into].set(MANIFEST_KEY, textOf(manifest));
      this.#highest[into] = generation;
      this.#note("late manifest");
    };
    this.#late.push({ at, carryOut });
  }

  #isPaused(): boolean {
    return this.#pausedUntil !== null && this.world.time < this.#pausedUntil;
  }

  /** I1 to I7. */
  async #check(): Promise<void> {
    const { world } = this;
    const { coordinator } = world;
    const byRuns = this.#findPublished().filter((generation) => !this.#rolledBack.has(generation));
    must(byRuns.length).toBeLessThanOrEqual(1); // I4: one a step
    if (this.#pausedThroughout) must(byRuns).toEqual([]); // I5

    const recorded = coordinator.status().current?.generation ?? 0;
    must(recorded).toBeGreaterThanOrEqual(this.#highest.recorded); // I2
    this.#highest.recorded = recorded;
    for (const replica of ["kv", "r2"] as const) {
      const copy = await world.store.readManifest(replica);
      const served = copy.ok ? copy.value : null;
      must(served?.generation ?? 0).toBeGreaterThanOrEqual(this.#highest[replica]); // I2
      this.#highest[replica] = served?.generation ?? 0;
      if (served === null) continue;
      must(served).toEqual(this.#published.get(served.generation)); // I1, I7
      for (const blob of manifestBlobs(served))
        must(world.store[replica].has(blobKey(blob))).toBe(true); // I1
    }
    for (const manifest of coordinator
      .versions()
      .flatMap(({ generation }) => this.#published.get(generation) ?? []))
      for (const blob of manifestBlobs(manifest))
        must(world.store.kv.has(blobKey(blob)) && world.store.r2.has(blobKey(blob))).toBe(true);

    for (const { sources } of coordinator
      .versions()
      .flatMap(({ generation }) => this.#published.get(generation) ?? []))
      for (const [file, sha256] of Object.entries(sources))
        if (file !== "snapshot") must(world.archive.files.has(sha256)).toBe(true);

    this.#checkRuns();
    must(coordinator.status().pause !== null).toBe(this.#isPaused());
    // I6: what is open is held by a pause, or the alarm is set for it.
    const { running, queued } = coordinator.status();
    if ((running !== null || queued.length > 0) && !this.#isPaused())
      must(world.alarmAt).not.toBeNull();
  }

  /** Generations that were recorded since it was called last. */
  #findPublished(): number[] {
    const { coordinator } = this.world;
    const before = new Set(this.#published.keys());
    for (const { generation } of coordinator.versions()) {
      const manifest = this.world.state.findVersion(generation);
      if (manifest === undefined) throw new Error("a version without a manifest");
      must(this.#published.get(generation) ?? manifest).toEqual(manifest);
      this.#published.set(generation, manifest);
    }
    return [...this.#published.keys()].filter((generation) => !before.has(generation));
  }

  #checkRuns(): void {
    const publishers = new Map<number, string>();
    for (const run of this.world.state.runs()) {
      if (run.generation_after !== null) {
        must(publishers.get(run.generation_after)).toBeUndefined(); // I4
        publishers.set(run.generation_after, run.id);
        must(run.state === "running" || run.outcome === "published").toBe(true); // I7
      }
      const begun = Date.parse(run.started_at ?? "");
      must(begun < (this.#promised.get(run.id) ?? 0)).toBe(false);
      if (isOpen(run.state) || run.state === "skipped") continue;
      must(this.#ended.get(run.id) ?? run).toEqual(run); // I3: a terminal row never changes
      this.#ended.set(run.id, run);
    }
  }
}

/** When a run that waits may start. */
function dueAt({ trigger, queued_at }: Run): number {
  return Date.parse(queued_at) + (trigger === "retry" ? SECOND_TRY_MS : 0);
}
