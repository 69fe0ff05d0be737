import type { Case } from "./cases.ts";
import { load, type LoadRequest } from "./load.ts";
import { median } from "./statistics.ts";

const CONNECTIONS = 8;
/**
 * Short, because a round takes a turn of every request at every server, in random order. A slow
 * moment of the machine then spoils a few turns of each, which a median leaves out.
 */
const TURN_MS = 100;
const WARM_UP_MS = 500;
/** Times that the time to answer is measured, each over as many answers as take so long. */
const ANSWER_TURNS = 5;
const ANSWERS_MS = 200;

/** How it is measured, for the reader of the tables. */
export const METHOD = `over ${CONNECTIONS} connections, in rounds in which each server has a turn of ${TURN_MS} ms for each request, or of one request on each connection where that takes longer, in random order. Figures are medians of the turns; ratios are medians of those of each round`;

/** A server, and how it is asked for a case. */
export interface Target {
  readonly port: number;
  readonly request: LoadRequest;
  /** CPU time (ms) that the server's processes have used. */
  readonly cpuMs: () => number;
  /** Whether it can make answers without sending them, and is to be timed so. */
  readonly repeats: boolean;
}

/** What one target does, as medians of its turns. */
export interface Measured {
  readonly requestsPerSecond: number;
  /** CPU time of one request. */
  readonly cpuMs: number;
  /** Time to make an answer without sending it; NaN where that cannot be seen. */
  readonly answerMs: number;
  /** Its turns, one in each round. */
  readonly turns: readonly Turn[];
}

/** What a target does in one turn. */
type Turn = Omit<Measured, "answerMs" | "turns">;

/** Returns the median of the ratios of two targets in each round. */
export function pairedRatio(one: Measured, other: Measured, key: keyof Turn): number {
  return median(one.turns.map((turn, round) => turn[key] / (other.turns[round]?.[key] ?? NaN)));
}

/** A request, with the servers that it is sent to. */
export interface Asked<T extends string> {
  readonly one: Case;
  readonly targets: ReadonlyMap<T, Target>;
}

/**
 * Measures each target of each request for so long altogether, or longer where one answer takes more
 * than a turn. `say` is told how far it is.
 */
export async function measure<T extends string, A extends Asked<T>>(
  requests: readonly A[],
  forMs: number,
  say: (progress: string) => void,
): Promise<readonly (A & { readonly results: ReadonlyMap<T, Measured> })[]> {
  const courses = requests.map((asked) => {
    const { one, targets } = asked;
    const course = [...targets].map(([name, target]) => ({ name, target, one, turns: noTurns() }));
    return { asked, course };
  });
  const all = courses.flatMap(({ course }) => course);
  say("the warm-up");
  for (const { target, one } of all) await takeTurn(target, one.status, WARM_UP_MS);
  const rounds = Math.ceil(forMs / TURN_MS);
  for (let round = 0; round < rounds; round++) {
    if (round % 10 === 0) say(`round ${round + 1} of ${rounds}`);
    for (const { target, one, turns } of shuffled(all))
      turns.push(await takeTurn(target, one.status, TURN_MS));
  }
  const measured = [];
  for (const { asked, course } of courses) {
    const results = new Map<T, Measured>();
    for (const { name, target, turns } of course)
      results.set(name, {
        requestsPerSecond: median(turns.map((turn) => turn.requestsPerSecond)),
        cpuMs: median(turns.map((turn) => turn.cpuMs)),
        answerMs: target.repeats ? await measureAnswer(target) : Number.NaN,
        turns,
      });
    measured.push({ ...asked, results });
  }
  return measured;
}

const noTurns = (): Turn[] => [];

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

/** Median time to make an answer, one after the other, so many that to ask for them hardly counts. */
async function measureAnswer({ port, request }: Target): Promise<number> {
  const { method, path, headers, body } = request;
  const time = async (times: number) => {
    const url = `http://127.0.0.1:${port}${path}`;
    const began = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}/repeat`, {
      method: "POST",
      body: JSON.stringify({ times, method, url, headers, body: [...body] }),
    });
    if (!answer.ok) throw new Error(`/repeat: ${answer.status} ${await answer.text()}`);
    await answer.body?.cancel();
    return performance.now() - began;
  };
  let times = 1;
  while ((await time(times)) < ANSWERS_MS) times *= 2;
  const each: number[] = [];
  for (let turn = 0; turn < ANSWER_TURNS; turn++) each.push((await time(times)) / times);
  return median(each);
}
