import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  BACKUP_CRONS,
  backupCron,
  CRON_REQUESTS,
  cronRequest,
} from "../../../src/ingest/schedule.ts";

describe("the cron triggers", () => {
  it("are those of wrangler.toml", () => {
    const toml = readFileSync(join(import.meta.dirname, "../../../wrangler.toml"), "utf8");
    const [, crons = ""] = /^crons = \[(.*)\]$/m.exec(toml) ?? [];
    expect(JSON.parse(`[${crons}]`)).toEqual([
      ...Object.keys(CRON_REQUESTS),
      ...Object.keys(BACKUP_CRONS),
    ]);
  });

  it.each(["* * * * *", "", "constructor"])("that nobody knows are an error: “%s”", (cron) => {
    expect(backupCron(cron)).toBeUndefined();
    expect(() => cronRequest(cron)).toThrow(`no job for the cron trigger "${cron}"`);
  });
});
