import type { Case } from "./cases.ts";
import { load, type LoadRequest } from "./load.ts";
import { median } from "./statistics.ts";

const CONNECTIONS = 8;
/**
 * Long enough for garbage collections to be in each turn. A round takes a turn of every request at
 * every server: a slow moment of the machine spoils a few turns of each, which a median leaves out.
 */
const TURN_MS = 250;
const WARM_UP_MS = 500;

/** A server, and how it is asked for a case. */
export interface Target {
  readonly port: number;
  readonly request: LoadRequest;
  /** CPU time (ms) that the server's processes have used. */
  readonly cpuMs: () => number;
}

/** What one target does, as medians of its turns. */
export interface Measured {
  readonly requestsPerSecond: number;
  /** CPU time of one request. */
  readonly cpuMs: number;
  /** Its turns, one in each round. */
  readonly turns: readonly Turn[];
}

/** What a target does in one turn. */
type Turn = Omit<Measured, "turns">;

/** Returns the median of the ratios of two targets in each round. */
export function pairedRatio(one: Measured, other: Measured, key: keyof Turn): number {
  return median(one.turns.map((turn, round) => turn[key] / (other.turns[round]?.[key] ?? NaN)));
}

/** A request, and the servers that it is sent to. */
export interface Comparison<T extends string> {
  readonly one: Case;
  readonly targets: ReadonlyMap<T, Target>;
}

/**
 * Measures each target of each request for so long altogether, or longer where one answer takes more
 * than a turn. Reports its progress to `say`.
 */
export async function measure<T extends string, C extends Comparison<T>>(
  comparisons: readonly C[],
  forMs: number,
  say: (progress: string) => void,
): Promise<readonly (C & { readonly results: ReadonlyMap<T, Measured> })[]> {
  const cases = comparisons.map((comparison) => ({
    comparison,
    runs: [...comparison.targets].map(([name, target]) => ({
      name,
      target,
      status: comparison.one.status,
      turns: new Array<Turn>(),
    })),
  }));
  say("a warm-up");
  for (const { runs } of cases)
    for (const { target, status } of runs) await takeTurn(target, status, WARM_UP_MS);
  const rounds = Math.ceil(forMs / TURN_MS);
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}`);
    // The turns that a ratio is made of follow each other.
    for (const { runs } of shuffled(cases))
      for (const { target, status, turns } of shuffled(runs))
        turns.push(await takeTurn(target, status, TURN_MS));
  }
  const measured = [];
  for (const { comparison, runs } of cases) {
    const results = new Map<T, Measured>();
    for (const { name, turns } of runs)
      results.set(name, {
        requestsPerSecond: median(turns.map((turn) => turn.requestsPerSecond)),
        cpuMs: median(turns.map((turn) => turn.cpuMs)),
        turns,
      });
    measured.push({ ...comparison, results });
  }
  return measured;
}

async function takeTurn(target: Target, status: number, turnMs: number): Promise<Turn> {
  const { port, request, cpuMs } = target;
  const before = cpuMs();
  const { requests, ms } = await load(port, request, {
    connections: CONNECTIONS,
    ms: turnMs,
    status,
  });
  return { requestsPerSecond: (requests / ms) * 1000, cpuMs: (cpuMs() - before) / requests };
}

function shuffled<T>(items: readonly T[]): readonly T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
