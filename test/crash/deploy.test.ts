import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NO_FAULTS } from "../chaos/fault-plan.ts";
import type { Service } from "../chaos/service.ts";
import { hasEnded, KilledService, LOCALES, type RunAnswer } from "./killed-service.ts";
import { OTHER_CHECKPOINTS, otherBundle } from "./other-bundle.ts";

/** Writes are late, so that there is time to kill the process between them. */
const LATE = { seed: 1, rates: { kv: { slow: 1 } } };

let killed: KilledService;
let service: Service;
/** The code as it was before, with other checkpoints. */
let former: string;

beforeAll(async () => {
  killed = await KilledService.build();
  ({ service } = killed);
  former = otherBundle(join(killed.folder, "former"), OTHER_CHECKPOINTS);
});

afterAll(() => killed.remove());

const isEncoding = ({ stage, progress }: RunAnswer) => stage === "encode" && progress.done > 1;

/** Queues a run, and kills the process when the common part is being encoded. */
async function killWhileEncoding(body: object): Promise<string> {
  await service.setPlan(LATE);
  const id = await killed.publish(body);
  const run = await killed.runWhen(id, (polled) => isEncoding(polled) || hasEnded(polled));
  expect(run).toMatchObject({ state: "running", stage: "encode" });
  await service.kill();
  return id;
}

/** The row of a run in D1, once it shows the end. */
async function rowOf(id: string) {
  const look = async () =>
    (await killed.state()).rows.find((row) => row.id === id && hasEnded(row));
  await expect.poll(look).toBeDefined();
  return look();
}

describe("a deploy in the middle of a run", () => {
  let first: string;

  it("publishes with newer code over a D1 without tables, and serves the result", async () => {
    await service.start(LOCALES, { bundle: former, migrate: false });
    first = await killWhileEncoding({});
    await service.start(LOCALES, { migrate: false });
    await service.setPlan(NO_FAULTS);
    const run = { state: "succeeded", outcome: "published", attempt: 1, generation_after: 1 };
    expect(await killed.runWhen(first, hasEnded)).toMatchObject(run);
    expect(await killed.ask()).toBe(1);
  });

  it("keeps a whole history in the tables that it has made", async () => {
    await killed.restart({ migrate: true, sql: ["ALTER TABLE ingest_runs ADD COLUMN mood TEXT"] });
    expect(await rowOf(first)).toMatchObject({ state: "succeeded", generation_after: 1 });
  });

  it("publishes with older code whose tables D1 has moved on from, and the history has the run", async () => {
    const second = await killWhileEncoding({ mode: "full" });
    await service.start(LOCALES, { bundle: former });
    await service.setPlan(NO_FAULTS);
    const run = { state: "succeeded", outcome: "published", attempt: 1, generation_after: 2 };
    expect(await killed.runWhen(second, hasEnded)).toMatchObject(run);
    expect(await rowOf(second)).toMatchObject({ state: "succeeded", generation_after: 2 });
    expect(await killed.ask()).toBe(2);
  });
});
