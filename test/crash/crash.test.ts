import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Stage, STAGES } from "../../src/schemas/run-words.ts";
import type { Clients } from "../chaos/clients.ts";
import { nothingOperated, type Violation } from "../chaos/evidence.ts";
import { NO_FAULTS } from "../chaos/fault-plan.ts";
import { checkInvariants, checkStores } from "../chaos/invariants.ts";
import { hasEnded, KilledService, type RunAnswer } from "./killed-service.ts";

/** A stage to kill the process in, and how much of it must be done by then. */
interface Place {
  readonly stage: Stage;
  readonly done: number;
}

/** Where the process is killed, in order; early and late in the stage `encode`. */
const PLACES = STAGES.flatMap((stage): Place[] => [
  { stage, done: 0 },
  ...(stage === "encode" ? [{ stage, done: 2 }] : []),
]);
/** Runs that may pass the wanted place unseen. */
const MAX_MISSES = 12;
/** Stores are late, so that there is time to kill the process in each stage. */
const LATE = { seed: 1, rates: { d1: { slow: 1 }, r2: { slow: 0.3 } } };

const deaths: { readonly place: Place; readonly id: string }[] = [];
/** Every run, as it ended. */
const runs: RunAnswer[] = [];
let killed: KilledService;
let clients: Clients;
let violations: readonly Violation[];

const end = async (id: string) => void runs.push(await killed.runWhen(id, hasEnded));

/** Kills the process at a place in a run, if the run is seen there. */
async function killAt({ stage, done }: Place, id: string): Promise<boolean> {
  const isThere = (run: RunAnswer) => run.stage === stage && run.progress.done >= done;
  const isPast = (run: RunAnswer) =>
    STAGES.findIndex((known) => known === run.stage) > STAGES.indexOf(stage);
  const run = await killed.runWhen(
    id,
    (polled) => isThere(polled) || isPast(polled) || hasEnded(polled),
  );
  if (hasEnded(run) || !isThere(run)) return false;
  await killed.restart();
  return true;
}

/** Kills the process at every place, in one run as far as it is seen there. */
async function killEverywhere(): Promise<void> {
  let id: string | undefined;
  for (const place of PLACES)
    for (let misses = 0; ; misses++) {
      if (misses > MAX_MISSES) throw new Error(`${misses} runs passed ${place.stage} unseen`);
      id ??= await killed.publish({ mode: "full" });
      if (await killAt(place, id)) {
        deaths.push({ place, id });
        break;
      }
      await end(id);
      id = undefined;
    }
  await killed.service.setPlan(NO_FAULTS);
  if (id !== undefined) await end(id);
}

beforeAll(async () => {
  killed = await KilledService.build();
  await killed.restart();
  await end(await killed.publish());
  await killed.service.setPlan(LATE);
  ({ clients, violations } = await killed.callDuring(killEverywhere));
});

afterAll(() => killed.remove());

describe("a run whose process is killed in the middle of each stage", () => {
  it("dies in every one, and in encode early and late", () => {
    expect(deaths.map(({ place }) => place)).toEqual(PLACES);
  });

  it("completes by itself, in one attempt, as the next generation", () => {
    for (const [index, run] of runs.entries())
      expect(run).toMatchObject({
        outcome: "published",
        attempt: 1,
        error: null,
        generation_after: index + 1,
      });
    const ids = runs.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(deaths.map(({ id }) => id)));
  });

  it("serves the old catalog or the new one all the time, whole, and leaves the stores at one", async () => {
    expect(violations).toEqual([]);
    expect(clients.checked).toBeGreaterThan(0);
    await expect.poll(async () => checkStores(await killed.state())).toEqual([]);
    const operated = nothingOperated();
    for (const { id, state, outcome } of runs) {
      operated.acknowledged.add(id);
      operated.ends.set(id, { state, outcome });
    }
    const state = await killed.state();
    const { older } = clients;
    const served = clients.served.values();
    const shown = [state.kv ?? [], state.r2 ?? []].flat();
    expect(
      checkInvariants({ served, shown, older, operated, state, defaultLocales: ["en"] }),
    ).toEqual([]);
  });
});
