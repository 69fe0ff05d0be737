import type { Case } from "./cases.ts";
import { load, type LoadRequest } from "./load.ts";
import { median } from "./statistics.ts";

const CONNECTIONS = 8;
const ROUNDS = 5;
const WARM_UP_MS = 300;
/** Answers that are made to see how long one takes. */
const ANSWERS = 50;

/** How it is measured, for the reader of the tables. */
export const METHOD = `over ${CONNECTIONS} connections, medians of ${ROUNDS} rounds`;

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
  for (let index = -1; index < ROUNDS; index++)
    for (const [name, target] of targets) {
      const measured = await measureTarget(target, status, index < 0 ? WARM_UP_MS : roundMs);
      if (index >= 0) rounds.get(name)?.push(measured);
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

async function measureTarget(target: Target, status: number, ms: number): Promise<Measured> {
  const { port, request, cpuMs, repeats } = target;
  const before = cpuMs();
  const options = { connections: CONNECTIONS, ms, status };
  const { requests, requestsPerSecond } = await load(port, request, options);
  return {
    requestsPerSecond,
    cpuMs: (cpuMs() - before) / requests,
    answerMs: repeats ? await measureAnswer(port, request) : Number.NaN,
  };
}

/** Time to make an answer, from the difference between making many and making few. */
async function measureAnswer(
  port: number,
  { method, path, headers, body }: LoadRequest,
): Promise<number> {
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
