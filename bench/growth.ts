/**
 * `npm run bench:growth`: what an ingest costs when the world grows. The snapshot is taken once,
 * three and ten times over, and goes through the pipeline that the Worker has, each world in an
 * isolate of its own, with stores on disk: once for the time, and once in a heap so small that it
 * ends only if each step fits.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type ResourceLimits, Worker } from "node:worker_threads";
import { buildSync } from "esbuild";
import { STAGES } from "../src/ingest/run.ts";
import type { GrowthFacts, GrowthMessage, GrowthOrder } from "./growth-run.ts";
import { writeWorld } from "./growth-world.ts";
import { printTable } from "./report.ts";
import { round } from "./statistics.ts";

/** Most that an isolate may hold: the limit of Cloudflare Workers. */
const ISOLATE_MB = 128;
/**
 * The heap of the run that is weighed: what the buffers outside of it leave. The smaller it is, the
 * sooner V8 collects garbage; what it cannot do without ends the run.
 */
const TIGHT: ResourceLimits = { maxOldGenerationSizeMb: 92, maxYoungGenerationSizeMb: 6 };
/** That of the run that is timed: no time goes into collecting early. */
const AMPLE: ResourceLimits = { maxOldGenerationSizeMb: 512 };
const SAMPLE_MS = 3;
const MIB = 2 ** 20;

const { values } = parseArgs({
  options: {
    sizes: { type: "string", default: "1,3,10" },
    locales: { type: "string", default: "de,en,ja,ru" },
    json: { type: "string" },
  },
});
const sizes = values.sizes.split(",").map(Number);
const locales = values.locales.split(",");

/** What the steps of one stage came to. */
interface StageCost {
  wallMs: number;
  ownMs: number;
  otherMs: number;
  /** Most that the isolate held during one of its steps, and after one. */
  peakMb: number;
  afterMb: number;
}

/** An ingest of a world in short. */
export interface GrowthSummary {
  readonly times: number;
  readonly entities: number;
  /** CPU of the isolate's own thread, which is all but what Node compresses on others. */
  readonly ownMs: number;
  /** Most that the isolate held during any step but those of the locales. */
  readonly peakMb: number;
}

/** What a world came to. */
interface Measured {
  readonly times: number;
  readonly facts: GrowthFacts;
  /** Why the contract's guards refuse it. */
  readonly refusal: string | undefined;
  /** By name, in order of `ROWS`. */
  readonly stages: ReadonlyMap<string, StageCost>;
}

/** The stages of the run that publishes, and the guards where there is a version to compare with. */
const COMPARING = "guard, compared";
const LOCALES = "encode, locales";
const ENCODING = ["encode, common part", "encode, compression of it", LOCALES];
const ROWS = [...STAGES.flatMap((stage) => (stage === "encode" ? ENCODING : [stage])), COMPARING];

const code = mkdtempSync(join(tmpdir(), "growth-"));
const measured: Measured[] = [];
try {
  bundleRun();
  for (const times of sizes) {
    process.stderr.write(`${times} times the world …\n`);
    measured.push(await measure(times));
  }
} finally {
  rmSync(code, { recursive: true, force: true });
}
if (values.json === undefined) process.stdout.write(report(measured));
else writeFileSync(values.json, JSON.stringify(measured.map(summarize)));

/** What a larger world costs, for the table of `npm run bench`. */
function summarize({ times, facts, stages }: Measured): GrowthSummary {
  const costs = (without: string) =>
    [...stages].filter(([row]) => row !== without).map(([, cost]) => cost);
  return {
    times,
    entities: facts.entities,
    ownMs: costs(COMPARING).reduce((sum, { ownMs }) => sum + ownMs, 0),
    // Node compresses the bodies of a locale whole, workerd only what is the locale's own.
    peakMb: Math.max(...costs(LOCALES).map(({ peakMb }) => peakMb)),
  };
}

/** JavaScript, as a deploy would: Node's removal of types would take 15 MB of the isolate. */
function bundleRun(): void {
  buildSync({
    entryPoints: [join(import.meta.dirname, "growth-run.ts")],
    outfile: join(code, "run.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
  });
}

async function measure(times: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "growth-"));
  try {
    const world = join(folder, "world");
    writeWorld(world, times, locales);
    const order = { world, locales };
    const timed = await ingestApart(
      times,
      { ...order, stores: join(folder, "timed"), collects: false },
      AMPLE,
    );
    const weighed = await ingestApart(
      times,
      { ...order, stores: join(folder, "weighed"), collects: true },
      TIGHT,
    );
    const stages = [...timed.stages].map(([row, cost]) => {
      const { peakMb = NaN, afterMb = NaN } = weighed.stages.get(row) ?? {};
      return [row, { ...cost, peakMb, afterMb }] as const;
    });
    return { ...timed, stages: new Map(stages) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Ingests in an isolate of its own, and looks at its memory all the while. */
async function ingestApart(
  times: number,
  order: GrowthOrder,
  resourceLimits: ResourceLimits,
): Promise<Measured> {
  const worker = new Worker(join(code, "run.mjs"), { workerData: order, resourceLimits });
  const stages = new Map<string, StageCost>();
  let facts: GrowthFacts | undefined;
  let refusal: string | undefined;
  let present: StageCost | undefined;
  worker.on("message", (message: GrowthMessage) => {
    switch (message.tells) {
      case "begin": {
        const row = rowOf(message);
        present = stages.get(row) ?? { wallMs: 0, ownMs: 0, otherMs: 0, peakMb: 0, afterMb: 0 };
        stages.set(row, present);
        return;
      }
      case "end":
        if (present === undefined) return;
        present.wallMs += message.cost.wallMs;
        present.ownMs += message.cost.ownMs;
        present.otherMs += message.cost.otherMs;
        present.afterMb = Math.max(present.afterMb, message.cost.afterMb);
        present = undefined;
        return;
      case "refused":
        refusal = message.message;
        return;
      case "done":
        facts = message.facts;
        return;
      default:
        return message satisfies never;
    }
  });
  const ended = new Promise<void>((resolve, reject) => {
    worker.once("error", reject);
    worker.once("exit", () => resolve());
  });
  const over = new AbortController();
  const watch = async () => {
    while (!over.signal.aborted) {
      const cost = present;
      const used = await usedMb(worker);
      if (cost !== undefined && cost === present) cost.peakMb = Math.max(cost.peakMb, used);
      await sleep(SAMPLE_MS);
    }
  };
  await Promise.all([ended.finally(() => over.abort()), watch()]);
  if (facts === undefined) throw new Error(`${times} times the world came to nothing`);
  return { times, facts, refusal, stages };
}

/** What an isolate holds: objects, and buffers outside of its heap. 0 once it has ended. */
async function usedMb(worker: Worker): Promise<number> {
  try {
    const { used_heap_size, external_memory } = await worker.getHeapStatistics();
    return (used_heap_size + external_memory) / MIB;
  } catch {
    return 0;
  }
}

function rowOf({ run, stage, part }: Extract<GrowthMessage, { tells: "begin" }>): string {
  if (run === "publish") return part === null ? stage : `${stage}, ${part}`;
  return run === "compare" && stage === "guard" ? COMPARING : "";
}

function report(all: readonly Measured[]): string {
  const [first, ...more] = all;
  const sizesOf = (what: string) => all.map(({ times }) => `${times}× ${what}`);
  const cost = (one: Measured, row: string) => one.stages.get(row);
  const total = (one: Measured, of: "wallMs" | "ownMs" | "otherMs") =>
    ROWS.filter((row) => row !== COMPARING).reduce(
      (sum, row) => sum + (cost(one, row)?.[of] ?? 0),
      0,
    );
  const ms = (value: number | undefined) => round(value ?? NaN, 0);
  const rows = [
    ...ROWS.map((row) => [
      row,
      ...all.map((one) => ms(cost(one, row)?.wallMs)),
      ...all.map((one) => ms(cost(one, row)?.ownMs)),
      ...all.map((one) => ms(cost(one, row)?.otherMs)),
      ...all.map((one) => ms(cost(one, row)?.peakMb)),
      ...all.map((one) => ms(cost(one, row)?.afterMb)),
    ]),
    [
      "whole run",
      ...all.map((one) => ms(total(one, "wallMs"))),
      ...all.map((one) => ms(total(one, "ownMs"))),
      ...all.map((one) => ms(total(one, "otherMs"))),
      ...all.map((one) => ms(Math.max(...[...one.stages.values()].map((s) => s.peakMb)))),
      ...all.map((one) => ms(Math.max(...[...one.stages.values()].map((s) => s.afterMb)))),
    ],
  ];
  const table = printTable({
    title: `A growing world in ${locales.length} locales (${locales.join(", ")})`,
    columns: [
      "stage",
      ...sizesOf("wall ms"),
      ...sizesOf("CPU ms"),
      ...sizesOf("zlib ms"),
      ...sizesOf("peak MB"),
      ...sizesOf("after, MB"),
    ],
    rows,
  });
  const facts = printTable({
    title: "The worlds",
    columns: ["", ...sizesOf("")],
    rows: [
      ["airports", ...all.map(({ facts: { airports } }) => String(airports))],
      ["entities", ...all.map(({ facts: { entities } }) => String(entities))],
      ["message, MB", ...all.map(({ facts: { messageBytes } }) => round(messageBytes / MIB, 1))],
      [
        "CPU ms for 1,000 entities in a locale",
        ...all.map((one) =>
          round((total(one, "ownMs") / one.facts.entities / locales.length) * 1000, 1),
        ),
      ],
    ],
  });
  const refusals = [first, ...more].flatMap((one) =>
    one?.refusal === undefined ? [] : [`${one.times}×: ${one.refusal}\n`],
  );
  const overdrawn = all.flatMap((one) =>
    [...one.stages]
      .filter(([, { peakMb }]) => peakMb > ISOLATE_MB)
      .map(([row, { peakMb }]) => `${one.times}× ${row}: ${round(peakMb, 0)} MB`),
  );
  return `${facts}${table}
Peak and after: what V8 counts as the isolate's used heap and its external memory (ArrayBuffers, and
the state of zlib), sampled from outside every ${SAMPLE_MS} ms; in a run of its own, to the end, in a heap
limited to ${TIGHT.maxOldGenerationSizeMb} MB and ${TIGHT.maxYoungGenerationSizeMb} MB for what is young, that collects garbage also before each call to a
store, while bodies are encoded, and after each step. What the isolate holds before the first step (code
and the snapshot) is included, and so is garbage between two collections. The most of any step of a
stage; the limit of an isolate is ${ISOLATE_MB} MB. ${overdrawn.length === 0 ? "No step passed it." : `Passed by ${overdrawn.join(", ")}.`}
CPU ms are those of the isolate's own thread; zlib ms those of all other threads, most of them zlib's
streams. There brotli is Node's, in one piece for each locale and at quality 9: unlike workerd's it
refuses segments that join. In workerd only the proof of each body is decoded there.

What the contract's guards say, before anything is stored (the runs above go on without them):
${refusals.join("") || "nothing\n"}`;
}
