import type { Case } from "./cases.ts";
import { load, type LoadRequest, type LoadResult } from "./load.ts";
import { median } from "./statistics.ts";

const CONNECTIONS = 8;
const ROUNDS = 5;
/** Turns that each target has in a round, so that a slow moment of the machine meets all of them. */
const TURNS = 6;
const WARM_UP_MS = 300;
/** Answers that are made to see how long one takes. */
const ANSWERS = 50;

/** How it is measured, for the reader of the tables. */
export const METHOD = `over ${CONNECTIONS} connections, medians of ${ROUNDS} rounds with ${TURNS} turns each`;

/** A server, and how it is asked for a case. */
export interface Target {
  readonly port: number;
  readonly request: LoadRequest;
  /** CPU time (ms) that the server's processes have used. */
  readonly cpuMs: () => number;
  /** Whether it can make answers without sending them. */
  readonly repeats: boolean;
}

/** What one target did in a round. */
export interface Measured {
  readonly requestsPerSecond: number;
  readonly cpuMs: number;
  /** Time to make an answer without sending it; NaN where that cannot be seen. */
  readonly answerMs: number;
}

/** Measures targets in turn, round by round; for each target its rounds. */
export async function measure<T extends string>(
  { status }: Case,
  targets: ReadonlyMap<T, Target>,
  roundMs: number,
): Promise<ReadonlyMap<T, readonly Measured[]>> {
  const rounds = new Map([...targets.keys()].map((name): [T, Measured[]] => [name, []]));
  for (const target of targets.values()) await loadTarget(target, status, WARM_UP_MS);
  for (let index = 0; index < ROUNDS; index++) {
    const totals = [...targets].map(([name, target]) => ({ name, target, ...NOTHING }));
    for (let turn = 0; turn < TURNS; turn++)
      for (const total of turn % 2 === 0 ? totals : totals.toReversed()) {
        const { requests, ms, cpuMs } = await loadTarget(total.target, status, roundMs / TURNS);
        total.requests += requests;
        total.ms += ms;
        total.cpuMs += cpuMs;
      }
    for (const { name, target, requests, ms, cpuMs } of totals)
      rounds.get(name)?.push({
        requestsPerSecond: (requests / ms) * 1000,
        cpuMs: cpuMs / requests,
        answerMs: target.repeats ? await measureAnswer(target) : Number.NaN,
      });
  }
  return rounds;
}

/** Median of the ratios within each round, so that a slow moment of the machine meets both. */
export function medianRatio(
  one: readonly Measured[],
  other: readonly Measured[],
  key: keyof Measured,
): number {
  return median(one.map((measured, index) => measured[key] / (other[index]?.[key] ?? Number.NaN)));
}

interface Turn extends LoadResult {
  readonly cpuMs: number;
}

const NOTHING: Turn = { requests: 0, ms: 0, cpuMs: 0 };

async function loadTarget(
  { port, request, cpuMs }: Target,
  status: number,
  ms: number,
): Promise<Turn> {
  const before = cpuMs();
  const result = await load(port, request, { connections: CONNECTIONS, ms, status });
  return { ...result, cpuMs: cpuMs() - before };
}

/** Time to make an answer, from the difference between making many and making few. */
async function measureAnswer({ port, request }: Target): Promise<number> {
  const { method, path, headers, body } = request;
  const time = async (times: number) => {
    const url = `http://127.0.0.1:${port}${path}`;
    const began = performance.now();
    await fetch(`http://127.0.0.1:${port}/repeat`, {
      method: "POST",
      body: JSON.stringify({ times, method, url, headers, body: [...body] }),
    });
    return performance.now() - began;
  };
  const few = await time(ANSWERS / 10);
  const many = await time(ANSWERS);
  return (many - few) / (ANSWERS * 0.9);
}
