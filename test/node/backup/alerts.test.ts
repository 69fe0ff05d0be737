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

/** The evaluations, and those of which it is known what they found. */
function evaluations(of: BackupWorld) {
  const ids = (table: string, column: string) =>
    of.rows(table).map((row) => new Map(Object.entries(row)).get(column));
  return { runs: ids("alert_runs", "id"), findings: ids("alert_findings", "run_id") };
}

describe("the history of the alerts", () => {
  it("keeps every evaluation and gets back the deleted ones when a backup is restored", async () => {
    const { backup_id } = await world.backUp();
    await evaluate(2);
    world.d1.database.exec(`DELETE FROM alert_runs WHERE id = '${anId(1)}'`);
    world.d1.database.exec(`DELETE FROM alert_findings WHERE run_id = '${anId(1)}'`);
    expect(await world.restore(backup_id)).toMatchObject({ state: "succeeded" });
    const both = [anId(1), anId(2)];
    expect(evaluations(world)).toEqual({ runs: both, findings: both });
  });

  it("contains no evaluation without its findings, even if one is written during the copy", async () => {
    let reads = 0;
    world.before = async (call) => {
      if (call === "d1 read" && ++reads === 2) await evaluate(2);
    };
    const { backup_id } = await world.backUp();
    world.before = () => {};
    const fresh = new BackupWorld(world, ["en"]);
    expect(await fresh.restore(backup_id)).toMatchObject({ state: "succeeded" });
    const { runs, findings } = evaluations(fresh);
    expect(runs).toContain(anId(1));
    expect(runs.filter((id) => !findings.includes(id))).toEqual([]);
  });
});
