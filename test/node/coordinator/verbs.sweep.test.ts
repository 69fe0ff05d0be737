/** What each verb of an operator does to a run in each place of its life. */
import { beforeEach, describe, expect, it } from "vitest";
import { isOpen } from "../../../src/coordinator/jobs.ts";
import type { Run } from "../../../src/schemas/run.ts";
import type { IngestCheckpoint } from "../../../src/ingest/checkpoint.ts";
import type { RunContext, IngestStepResult } from "../../../src/ingest/step.ts";
import { Pipeline, type PipelineDependencies } from "../../../src/ingest/pipeline.ts";
import { type Stage, STAGES } from "../../../src/schemas/run-words.ts";
import { TransientSourceError, SourceError } from "../../../src/sources/source-error.ts";
import { aBackupRequest, BackupWorld, byOps } from "../../builders/backup-world.ts";
import { startEachFrom } from "../../builders/coordinator-world.ts";
import { anEnqueueRequest } from "../../builders/run.ts";

const PAUSE = { by: "ana", note: null, until: null };
const CANCELLATION = { by: "ana", note: "not now" };
/** It rejects a change that nobody holds. */
const DECISION = {
  id: "1-x",
  verdict: "rejected",
  by: "ana",
  at: "2026-11-01T00:00:00.000Z",
  note: null,
} as const;
const CRON = "17 4 * * *";
/** The stages of a run that has not published. */
const UNPUBLISHED = STAGES.filter((stage) => stage !== "verify");

/** Reads once before it publishes, so that something can happen meanwhile. */
class SlowPublish extends Pipeline {
  readonly #store: PipelineDependencies["store"];

  constructor(deps: PipelineDependencies) {
    super(deps);
    this.#store = deps.store;
  }

  override async step(
    checkpoint: IngestCheckpoint,
    context: RunContext,
  ): Promise<IngestStepResult> {
    if (checkpoint.stage === "publish") await this.#store.readManifest("r2");
    return super.step(checkpoint, context);
  }
}

const world = new BackupWorld(undefined, ["en"], (deps) => new SlowPublish(deps));
/** A backup of the two versions that are published at first. */
let backupId: string;

startEachFrom(world, async () => {
  await world.ingest.publishVersions(2);
  ({ backup_id: backupId } = await world.backUp());
});

beforeEach(() => world.ingest.renameAirport("Kloten"));

/** Places in which all runs are treated alike. */
type Kind =
  | "waits"
  | "waits to retry"
  | "is held"
  | "has published"
  | "is between steps"
  | "takes a step"
  | "has succeeded"
  | "has failed"
  | "was cancelled"
  | "was skipped";

interface Place {
  readonly kind: Kind;
  readonly stage?: Stage;
  /** Brings a run there. Returns its id. */
  readonly reach: () => Promise<string>;
}

const upTo = async (stage: Stage) => (await world.ingest.runUpTo(stage)).id;

/** Lets a run fail, and upstream be well again. Returns the newest run. */
async function failWith(fault: Error): Promise<string> {
  const { upstream } = world.ingest;
  world.ingest.upstream = { ...upstream, fetch: () => Promise.reject(fault) };
  const { run } = await world.ingest.enqueue();
  await world.drain(() => world.ingest.run(run.id).state === "failed");
  world.ingest.upstream = upstream;
  return world.ingest.coordinator.status().queued[0]?.id ?? run.id;
}

const PLACES: readonly Place[] = [
  { kind: "waits", reach: () => upTo("fetch") },
  {
    kind: "waits to retry",
    reach: () => failWith(new TransientSourceError("http_status", "busy", 60_000)),
  },
  {
    kind: "is held",
    reach: async () => {
      const id = await upTo("encode");
      await world.ingest.coordinator.pause(PAUSE, false);
      await world.drain();
      return id;
    },
  },
  ...UNPUBLISHED.slice(1).map((stage): Place => ({
    kind: "is between steps",
    stage,
    reach: () => upTo(stage),
  })),
  ...UNPUBLISHED.map((stage): Place => ({ kind: "takes a step", stage, reach: () => upTo(stage) })),
  { kind: "has published", reach: () => upTo("verify") },
  { kind: "has succeeded", reach: async () => (await world.ingest.runToEnd()).id },
  {
    kind: "has failed",
    reach: () => failWith(new SourceError("http_refused", "not there")),
  },
  {
    kind: "was cancelled",
    reach: async () => {
      const { run } = await world.ingest.enqueue();
      await world.ingest.coordinator.cancel(run.id, CANCELLATION);
      return run.id;
    },
  },
  {
    kind: "was skipped",
    reach: async () => {
      await world.ingest.coordinator.pause(PAUSE, false);
      await world.ingest.coordinator.tick(CRON, 1, anEnqueueRequest({ trigger: "cron" }));
      await world.ingest.coordinator.resume();
      return world.ingest.state.runs()[0]?.id ?? "";
    },
  },
];

/** What a verb leads to: runs by their outcome or state, backup jobs by their kind. */
type End = "published" | "unchanged" | "cancelled" | "run" | "verify" | "restore";

interface Cell {
  /** What the verb answers, in part. */
  readonly answer?: (run: Run) => object;
  /** What ends before nothing is due, in order. */
  readonly ends: readonly End[];
  /** What ends after a resume, in order. */
  readonly resumed?: readonly End[];
}

interface Verb {
  readonly act: (run: Run) => Promise<unknown>;
  /** Whether a run that was parsed before is parsed again, and publishes what it then finds. */
  readonly repeatsParse?: true;
  /** Whether it is tried in every stage. */
  readonly isEveryStage?: true;
  /** Generations that it publishes itself. */
  readonly publishes?: number;
  readonly cells: { readonly [K in Kind]: Cell };
}

const BACKUP = ["run", "verify"] as const;
const RESTORE = ["run", "restore", "verify"] as const;

/** One cell for every run that has ended. */
function ended(cell: Cell) {
  return {
    "has succeeded": cell,
    "has failed": cell,
    "was cancelled": cell,
    "was skipped": cell,
  } as const;
}

/** One cell for every run that has started and has not published. */
function started(cell: Cell) {
  return { "is between steps": cell, "takes a step": cell } as const;
}

const cancelledOf = (state: "cancelled" | "running") => () => ({
  ok: true,
  changed: true,
  run: { state, cancellation: CANCELLATION },
});
const isCancelled = cancelledOf("cancelled");
/** Its next step ends it. */
const isToBeCancelled = cancelledOf("running");
const pausedAndCancelled = ({ id }: Run) => ({ runningRunId: id, cancelled: isToBeCancelled() });
const TOO_LATE = { ok: false, reason: "too_late" };
const rolledBackTo =
  (generation: number, paused = false) =>
  () => ({
    ok: true,
    changed: true,
    paused,
    version: { generation },
  });

const VERBS: { readonly [verb: string]: Verb } = {
  pause: {
    isEveryStage: true,
    act: () => world.ingest.coordinator.pause(PAUSE, false),
    cells: {
      waits: {
        answer: () => ({ changed: true, runningRunId: null, cancelled: null }),
        ends: [],
        resumed: ["published"],
      },
      "waits to retry": {
        answer: () => ({ changed: true, runningRunId: null }),
        ends: [],
        resumed: ["published"],
      },
      "is held": {
        answer: ({ id }) => ({ changed: false, runningRunId: id }),
        ends: [],
        resumed: ["published"],
      },
      ...started({
        answer: ({ id }) => ({ changed: true, runningRunId: id }),
        ends: [],
        resumed: ["published"],
      }),
      "has published": { answer: ({ id }) => ({ runningRunId: id }), ends: ["published"] },
      ...ended({ answer: () => ({ changed: true, runningRunId: null }), ends: [] }),
    },
  },

  "pause and cancel": {
    isEveryStage: true,
    act: () => world.ingest.coordinator.pause({ ...PAUSE, ...CANCELLATION }, true),
    cells: {
      waits: { answer: () => ({ cancelled: null }), ends: [], resumed: ["published"] },
      "waits to retry": { answer: () => ({ cancelled: null }), ends: [], resumed: ["published"] },
      "is held": { answer: pausedAndCancelled, ends: ["cancelled"] },
      ...started({ answer: pausedAndCancelled, ends: ["cancelled"] }),
      "has published": { answer: () => ({ cancelled: TOO_LATE }), ends: ["published"] },
      ...ended({ answer: () => ({ cancelled: null }), ends: [] }),
    },
  },

  resume: {
    act: () => world.ingest.coordinator.resume(),
    cells: {
      waits: { answer: () => ({ changed: false, pause: null }), ends: ["published"] },
      "waits to retry": { answer: () => ({ changed: false }), ends: ["published"] },
      "is held": {
        answer: ({ id }) => ({ changed: true, pause: null, runningRunId: id }),
        ends: ["published"],
      },
      ...started({ answer: () => ({ changed: false }), ends: ["published"] }),
      "has published": { answer: () => ({ changed: false }), ends: ["published"] },
      ...ended({ answer: () => ({ changed: false }), ends: [] }),
    },
  },

  cancel: {
    isEveryStage: true,
    act: ({ id }) => world.ingest.coordinator.cancel(id, CANCELLATION),
    cells: {
      waits: { answer: isCancelled, ends: [] },
      "waits to retry": { answer: isCancelled, ends: [] },
      "is held": { answer: isToBeCancelled, ends: ["cancelled"] },
      ...started({ answer: isToBeCancelled, ends: ["cancelled"] }),
      "has published": { answer: () => TOO_LATE, ends: ["published"] },
      ...ended({ answer: () => ({ ok: false, reason: "ended" }), ends: [] }),
      "was cancelled": { answer: () => ({ ok: true, changed: false }), ends: [] },
    },
  },

  enqueue: {
    act: () => world.ingest.enqueue(),
    cells: {
      waits: {
        answer: ({ id }) => ({ changed: false, run: { id }, will_start: "now" }),
        ends: ["published"],
      },
      "waits to retry": {
        answer: () => ({ changed: true, will_start: "now" }),
        ends: ["published", "unchanged"],
      },
      "is held": {
        answer: () => ({ changed: true, paused: true, will_start: "on_resume" }),
        ends: [],
        resumed: ["published", "unchanged"],
      },
      ...started({
        answer: ({ id }) => ({ changed: true, will_start: `after_run:${id}` }),
        ends: ["published", "unchanged"],
      }),
      "has published": {
        answer: ({ id }) => ({ changed: true, will_start: `after_run:${id}` }),
        ends: ["published", "unchanged"],
      },
      ...ended({ answer: () => ({ changed: true, will_start: "now" }), ends: ["published"] }),
      "has succeeded": { answer: () => ({ changed: true }), ends: ["unchanged"] },
    },
  },

  tick: {
    act: () => world.ingest.coordinator.tick(CRON, 2, anEnqueueRequest({ trigger: "cron" })),
    cells: {
      waits: { ends: ["published"] },
      "waits to retry": { ends: ["published"] },
      "is held": { ends: [], resumed: ["published"] },
      ...started({ ends: ["published", "unchanged"] }),
      "has published": { ends: ["published", "unchanged"] },
      ...ended({ ends: ["published"] }),
      "has succeeded": { ends: ["unchanged"] },
    },
  },

  rollback: {
    isEveryStage: true,
    act: () => world.ingest.coordinator.rollback(1),
    publishes: 1,
    cells: {
      waits: { answer: rolledBackTo(3), ends: ["published"] },
      "waits to retry": { answer: rolledBackTo(3), ends: ["published"] },
      "is held": { answer: rolledBackTo(3, true), ends: [], resumed: ["published"] },
      ...started({ answer: rolledBackTo(3), ends: ["published"] }),
      "has published": { answer: rolledBackTo(4), ends: ["published"] },
      ...ended({ answer: rolledBackTo(3), ends: [] }),
      "has succeeded": { answer: rolledBackTo(4), ends: [] },
    },
  },

  decide: {
    isEveryStage: true,
    act: async () => world.ingest.coordinator.decide([DECISION]),
    repeatsParse: true,
    cells: {
      waits: { ends: ["published"] },
      "waits to retry": { ends: ["published"] },
      "is held": { ends: [], resumed: ["published"] },
      ...started({ ends: ["published"] }),
      "has published": { ends: ["published"] },
      ...ended({ ends: [] }),
    },
  },

  "back up": {
    act: () => world.ingest.coordinator.backUp(aBackupRequest()),
    cells: {
      waits: { ends: ["published", ...BACKUP] },
      "waits to retry": { ends: [...BACKUP, "published"] },
      "is held": { ends: BACKUP, resumed: ["published"] },
      ...started({ ends: ["published", ...BACKUP] }),
      "has published": { ends: ["published", ...BACKUP] },
      ...ended({ ends: BACKUP }),
    },
  },

  restore: {
    act: () => world.ingest.coordinator.restoreBackup(backupId, byOps()),
    publishes: 1,
    cells: {
      waits: { ends: ["published", ...RESTORE] },
      "waits to retry": { ends: RESTORE, resumed: ["published"] },
      "is held": { ends: [...RESTORE, "cancelled"], resumed: [] },
      ...started({ ends: ["published", ...RESTORE] }),
      "has published": { ends: ["published", ...RESTORE] },
      ...ended({ ends: RESTORE }),
    },
  },
};

/** Acts at the first call of the next step. The instance is new, so that the step makes a call. */
async function duringNextStep(act: () => Promise<unknown>): Promise<unknown> {
  world.crash();
  let acting: Promise<unknown> | undefined;
  world.ingest.before = async (call) => {
    expect(acting !== undefined || !call.startsWith("d1 ")).toBe(true);
    acting ??= act();
    await acting;
  };
  await world.ingest.alarm();
  world.ingest.before = () => {};
  expect(acting).toBeDefined();
  return acting;
}

/** What the log says has ended, in order. */
function endsLogged(): string[] {
  return world.events.flatMap(({ event, fields }) => {
    const { outcome, kind, state } = fields as { [field: string]: string | null };
    if (event === "ingest_ended") return [outcome ?? state ?? ""];
    return event === "backup_ended" ? [kind ?? ""] : [];
  });
}

/** How many steps of a stage the log says that a run has taken. */
function stepsLogged(id: string, stage: Stage): number {
  return world.events.filter(({ event, fields }) => {
    const step = fields as { readonly run_id?: string; readonly stage?: string };
    return event === "ingest_step" && step.run_id === id && step.stage === stage;
  }).length;
}

/** Checks what holds in every cell once nothing is due. */
async function checkAtRest(publishedByVerb: number): Promise<void> {
  const { state, history, coordinator } = world.ingest;
  const runs = state.runs();
  const published = runs.filter(({ outcome }) => outcome === "published");
  const generation = published.length + publishedByVerb;
  expect(await world.ingest.served()).toMatchObject({ generation });
  const rested = { replicated: true, outboxLength: 0, setAside: [] };
  expect(coordinator.status()).toMatchObject(rested);
  const endedRuns = runs.filter((run) => !isOpen(run.state));
  expect(endedRuns.map(({ id }) => history.rows.get(id)?.run)).toEqual(endedRuns);
  const unpublished = runs.filter(({ outcome }) => outcome !== "published");
  expect(unpublished.filter((run) => run.generation_after !== null)).toEqual([]);
}

/** Where the stage makes no difference, the first step of an archived run and the last one stand for all. */
const isTypical = (stage: Stage | undefined) =>
  stage === undefined || stage === "parse" || stage === "publish";

describe.each(Object.entries(VERBS))("the verb “%s”", (_, verb) => {
  const { act, cells, publishes = 0, isEveryStage = false, repeatsParse = false } = verb;
  const rows = PLACES.filter(({ stage }) => isEveryStage || isTypical(stage)).map((place) => ({
    place: place.stage === undefined ? place.kind : `${place.kind} (${place.stage})`,
    ends: cells[place.kind].ends.join(", ") || "nothing",
    resumed: cells[place.kind].resumed?.join(", ") ?? "nothing",
    reach: place.reach,
    kind: place.kind,
    stage: place.stage,
  }));

  it.each(rows)(
    "leads to $ends while a run $place, and to $resumed after a resume",
    async ({ kind, stage, reach }) => {
      const { answer: answerOf, ends, resumed = [] } = cells[kind];
      const id = await reach();
      const run = world.ingest.run(id);
      const nextStage = isOpen(run.state) ? world.ingest.nextStage(id) : undefined;
      const endsBefore = endsLogged().length;
      const callsBefore = world.ingest.calls.length;
      const answer =
        kind === "takes a step" ? await duringNextStep(() => act(run)) : await act(run);
      expect({ answer }).toMatchObject(answerOf === undefined ? {} : { answer: answerOf(run) });
      if (kind !== "takes a step") world.crash();

      await world.drain();
      for (let late = 0; late < 3; late++) await world.ingest.alarm();
      expect(endsLogged().slice(endsBefore)).toEqual(ends);
      const isHeld = world.ingest.run(id).state === "running";
      const isAtItsStep = isHeld && (kind !== "takes a step" || stage === "publish");
      expect(isAtItsStep ? world.ingest.nextStage(id) : nextStage).toBe(nextStage);
      const isIdle = isHeld && kind !== "takes a step" && ends.length === 0 && publishes === 0;
      const calls = isIdle ? world.ingest.calls.slice(callsBefore) : [];
      expect(calls.filter((call) => !call.startsWith("d1 "))).toEqual([]);
      await checkAtRest(publishes);

      const endsAtRest = endsLogged().length;
      await world.ingest.coordinator.resume();
      await world.drain();
      expect(endsLogged().slice(endsAtRest)).toEqual(resumed);
      await checkAtRest(publishes);
      expect(world.ingest.coordinator.status()).toMatchObject({ running: null, queued: [] });
      const { outcome } = world.ingest.run(id);
      const wasParsed =
        kind === "is held" ||
        STAGES.indexOf(stage ?? "fetch") + Number(kind === "takes a step") >
          STAGES.indexOf("parse");
      const isAgain = repeatsParse && isOpen(run.state) && wasParsed;
      // A run that a rollback or a restore overtakes may be parsed and published again.
      const steps = publishes > 0 || outcome !== "published" ? null : { parse: isAgain ? 2 : 1 };
      expect(steps && { parse: stepsLogged(id, "parse") }).toEqual(steps);
      const isOnce = outcome === "published" && !repeatsParse && publishes === 0;
      expect(isOnce ? stepsLogged(id, "publish") : 1).toBe(1);
    },
  );
});
