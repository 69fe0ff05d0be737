import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CRON_JOBS, cronJob, ingestCrons } from "../../../src/coordinator/schedule.ts";

describe("the cron triggers", () => {
  it("match those of wrangler.toml", () => {
    const toml = readFileSync(join(import.meta.dirname, "../../../wrangler.toml"), "utf8");
    const [, crons = ""] = /^crons = \[(.*)\]$/m.exec(toml) ?? [];
    expect(JSON.parse(`[${crons}]`)).toEqual(Object.keys(CRON_JOBS));
  });

  it("include one that starts an ingest", () => {
    expect(ingestCrons()).toEqual(["17 4 * * *"]);
  });

  it.each(["* * * * *", "", "constructor"])("reject an unknown one: “%s”", (cron) => {
    expect(() => cronJob(cron, 0)).toThrow(`no job for the cron trigger "${cron}"`);
  });
});
