/** Two versions of the Worker at once over the same stores, as while a deployment is gradual. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Clients } from "../chaos/clients.ts";
import { nothingOperated, type Violation } from "../chaos/evidence.ts";
import { checkInvariants, checkStores } from "../chaos/invariants.ts";
import { freePort } from "../system/running-service.ts";
import { hasEnded, KilledService } from "./killed-service.ts";
import { LATER_STATE, otherBundle } from "./other-bundle.ts";
import { COORDINATOR_SCHEMA } from "../../src/coordinator/tables.ts";

const VARS = { MANIFEST_FRESH_MS: "500" };

let killed: KilledService;
/** The Worker that runs the Durable Objects, and the one beside it. */
let versions: readonly [KilledService, KilledService];
let bundles: { readonly present: string; readonly later: string };
let generation = 0;
const clients: Clients[] = [];
const violations: Violation[] = [];
const operated = nothingOperated();

beforeAll(async () => {
  killed = await KilledService.build();
  versions = [killed, killed.through(await freePort())];
  bundles = {
    present: join(killed.folder, "bundle"),
    later: otherBundle(join(killed.folder, "later"), LATER_STATE),
  };
});

afterAll(() => killed.remove());

type Version = keyof typeof bundles;

/** Gives the objects to one version, with another beside it. */
function deploy(objects: Version, beside: Version): Promise<void> {
  const { port } = versions[1];
  const bundle = bundles[objects];
  return killed.restart({ bundle, beside: { bundle: bundles[beside], port } }, VARS);
}

/** Lets clients call both versions as long as something is done. */
async function callBothDuring(work: () => Promise<void>): Promise<void> {
  let inner: Awaited<ReturnType<KilledService["callDuring"]>> | undefined;
  const outer = await versions[0].callDuring(async () => {
    inner = await versions[1].callDuring(work);
  });
  for (const called of [outer, inner])
    if (called !== undefined) {
      clients.push(called.clients);
      violations.push(...called.violations);
    }
}

/** What each version answers a client: a generation, or the error in its own words. */
const askBoth = () =>
  Promise.all(versions.map((version) => version.ask().catch((cause: unknown) => String(cause))));

/** Publishes through a version, and waits until both serve it. */
async function publish(through: KilledService, served = [++generation, generation]) {
  const id = await through.publish();
  operated.acknowledged.add(id);
  const run = await through.runWhen(id, hasEnded);
  expect(run).toMatchObject({ outcome: "published", attempt: 1, generation_after: generation });
  operated.ends.set(id, { state: run.state, outcome: run.outcome });
  await expect.poll(askBoth).toEqual(served);
}

async function rollBack(through: KilledService): Promise<void> {
  const earlier = generation - 1;
  operated.rollbackAttempts++;
  await through.admin("POST", "/admin/catalog/rollback", { generation: earlier });
  operated.rollbacks.set(++generation, earlier);
  await expect.poll(askBoth).toEqual([generation, generation]);
}

it("two versions that read the same state publish and roll back through each other", async () => {
  await deploy("present", "present");
  await callBothDuring(async () => {
    for (const version of versions) await publish(version);
    await rollBack(versions[1]);
  });
  expect(await askBoth()).toEqual([generation, generation]);
});

describe("a later version that stores another form", () => {
  const unavailable = expect.stringContaining("503");
  const later = COORDINATOR_SCHEMA.length + 1;

  it("publishes over the present state, while the present version serves what it holds", async () => {
    await deploy("later", "present");
    await callBothDuring(async () => {
      await expect.poll(askBoth).toEqual([generation, generation]);
      const held = generation++;
      await publish(versions[0], [generation, held]);
    });
  });

  it("serves, while the present version that holds nothing answers `unavailable`, and says why", async () => {
    await deploy("later", "present");
    await callBothDuring(async () => {
      expect(await askBoth()).toEqual([generation, unavailable]);
      const health = await fetch(`${versions[1].url}/catalog/health`);
      expect(await health.text()).toContain(
        "it has format 7, and this Worker reads 5 and 6; deploy a Worker that reads it",
      );
    });
  });

  it("serves, while the objects are of the present version, which refuses every change by name", async () => {
    await deploy("present", "later");
    await callBothDuring(async () => {
      expect(await askBoth()).toEqual([unavailable, generation]);
      for (const version of versions)
        for (const path of ["ingest/queue", "ingest/resume", "backup/run", "catalog/take-over"])
          await expect(version.admin("POST", `/admin/${path}`, {})).rejects.toThrow(
            new RegExp(
              `503 .*other_version.*have version ${later}, .* Deploy the newer Worker again`,
              "s",
            ),
          );
    });
  });

  it("continues as before, once the objects are its own again", async () => {
    await deploy("later", "later");
    await callBothDuring(async () => {
      await publish(versions[1]);
      await rollBack(versions[0]);
    });
    expect(await askBoth()).toEqual([generation, generation]);
  });
});

it("no version has broken an invariant, whichever one was called", async () => {
  expect(violations).toEqual([]);
  // Only the present version over a later manifest has served nobody.
  const silent = clients.filter(({ checked }) => checked === 0);
  expect(silent).toHaveLength(2);
  await expect.poll(async () => checkStores(await killed.state())).toEqual([]);
  const state = await killed.state();
  const served = clients.flatMap((called) => [...called.served.values()]);
  const older = clients.flatMap((called) => called.older);
  const shown = [state.kv ?? [], state.r2 ?? []].flat();
  expect(
    checkInvariants({ served, shown, older, operated, state, defaultLocales: ["en"] }),
  ).toEqual([]);
});
