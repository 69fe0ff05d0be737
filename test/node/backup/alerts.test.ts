import { beforeEach, describe, expect, it } from "vitest";
import { createAlertHistory } from "../../../src/storage/alert-history.ts";
import { anAlertResult, anAlertRun } from "../../builders/alert-run.ts";
import { anId } from "../../builders/an-id.ts";
import { BackupWorld } from "../../builders/backup-world.ts";

let world: BackupWorld;

beforeEach(async () => {
  world = new BackupWorld(undefined, ["en"]);
  await world.ingest.publishVersions(1);
  await world.drain();
  await evaluate(1);
});

/** Writes an evaluation at which one alert fired. */
function evaluate(number: number): Promise<void> {
  const run = anAlertRun({ id: anId(number), results: [anAlertResult({ state: "firing" })] });
  return createAlertHistory(world.d1.binding).saveRuns([run]);
}

describe("the history of the alerts", () => {
  it("keeps every evaluation and gets back the deleted ones when a backup is restored", async () => {
    const { backup_id } = await world.backUp();
    await evaluate(2);
    world.d1.database.exec(`DELETE FROM alert_runs WHERE id = '${anId(1)}'`);
    expect(await world.restore(backup_id)).toMatchObject({ state: "succeeded" });
    expect(world.rows("alert_runs")).toMatchObject([{ id: anId(1) }, { id: anId(2) }]);
  });
});
