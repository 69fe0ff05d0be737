/** A backup and a restore over real stores. What they decide is proved in `test/node/backup`. */
import { evictDurableObject } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import { expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import { coordinator, RUN_TIMEOUT_MS, runToEnd, store } from "../ingest/coordinator-under-test.ts";
import { dropAirports, SMALL_AIRPORTS } from "../ingest/small-world.ts";
import { databaseTables, historyIsWritten, jobsOf, wipeAllButBackups } from "./installation.ts";

/** What clients get: the hash of the body in each locale. */
async function servedBytes(): Promise<readonly string[]> {
  const path = "/locations.v1.LocationsService/GetLocationsV1";
  const answers = ["en", "de", "ja"].map((locale) =>
    exports.default.fetch(`http://localhost${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ locale }),
    }),
  );
  const bodies = (await Promise.all(answers)).map((answer) => answer.arrayBuffer());
  return (await Promise.all(bodies)).map((bytes) => sha256Hex(new Uint8Array(bytes)));
}

/** The manifests of the retained versions in R2, newest first. */
async function versions() {
  const retained = await coordinator().versions();
  return Promise.all(retained.map(({ generation }) => store.readGeneration(generation)));
}

it(
  "a restore after the loss of all but the backups serves as before, with the history and the pause",
  { timeout: 2 * RUN_TIMEOUT_MS },
  async () => {
    await dropAirports(SMALL_AIRPORTS);
    await runToEnd({ source: "dropped" });
    await dropAirports(SMALL_AIRPORTS - 3);
    await runToEnd({ source: "dropped" });
    await coordinator().pause({ by: "ops", note: "holidays", until: null }, false);
    await historyIsWritten();
    const everything = async () => {
      const { audit: _, ...tables } = await databaseTables();
      return { tables, versions: await versions(), bytes: await servedBytes() };
    };
    const before = await everything();
    expect(before.tables["ingest_runs"]).toHaveLength(2);

    const backedUp = [
      { kind: "run", state: "succeeded", error: null },
      { kind: "verify", state: "succeeded", error: null, verdict: "verified" },
    ] as const;
    const [backup, verification] = await jobsOf("/admin/backup/run", { note: "before it" });
    expect([backup, verification]).toMatchObject(backedUp);
    await wipeAllButBackups();
    const restored = await jobsOf(`/admin/backup/${backup?.backup_id}/restore`);
    const [again, proof] = backedUp;
    const restore = { kind: "restore", state: "succeeded", error: null, generation: 3 };
    expect(restored).toMatchObject([again, restore, proof]);
    await evictDurableObject(coordinator());

    await expect.poll(servedBytes, { interval: 500 }).toEqual(before.bytes);
    const after = await everything();
    expect(after).toEqual({ ...before, versions: [after.versions[0], ...before.versions] });
    const published = { generation: 3, previous: 2, published_at: expect.any(String) };
    const [newest] = before.versions;
    expect(after.versions[0]).toMatchObject({
      value: { ...(newest?.ok && newest.value), ...published },
    });
    expect((await coordinator().status()).pause).toMatchObject({ by: "ops", note: "holidays" });
  },
);
