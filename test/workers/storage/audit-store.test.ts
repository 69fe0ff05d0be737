import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { createAuditStore } from "../../../src/storage/audit-store.ts";
import { NEWEST_KEPT } from "../../../src/storage/rows.ts";
import { anAuditEntry } from "../../builders/audit.ts";

const audit = createAuditStore(env.HISTORY);

beforeEach(async () => {
  await env.HISTORY.exec("DELETE FROM audit");
});

/** An entry whose id ascends with `number`. */
const entry = (number: number, changes: Parameters<typeof anAuditEntry>[0] = {}) =>
  anAuditEntry({
    id: `019aa3c0-0000-7000-8000-${String(number).padStart(12, "0")}`,
    ...changes,
  });

const list = async (query: Partial<Parameters<typeof audit.list>[0]> = {}) => {
  const page = await audit.list({ limit: 50, ...query });
  if (!page.ok) throw new Error(page.reason);
  return page;
};

describe("the audit in D1", () => {
  it("returns an entry as it was saved", async () => {
    const saved = entry(1, { request: { a: [1, null] }, before: null, after: "x", target: "7" });
    await audit.save([saved]);
    expect((await list()).entries).toEqual([saved]);
  });

  it("keeps the first of two entries with the same id, so that a save may be repeated", async () => {
    await audit.save([entry(1)]);
    await audit.save([entry(1, { outcome: "refused" }), entry(2)]);
    expect((await list()).entries.map(({ outcome }) => outcome)).toEqual(["done", "done"]);
  });

  it("can be searched by actor, action, outcome and time", async () => {
    await audit.save([
      entry(1, { actor: "ann" }),
      entry(2, { action: "ingest.resume" }),
      entry(3, { outcome: "refused" }),
      entry(4, { at: "2026-11-02T00:00:00.000Z" }),
    ]);
    const midnight = Date.parse("2026-11-02T00:00:00.000Z");
    const found = async (query: Parameters<typeof list>[0]) =>
      (await list(query)).entries.map(({ id }) => Number(id.slice(-1)));
    expect(await found({ actor: "ann" })).toEqual([1]);
    expect(await found({ action: "ingest.resume" })).toEqual([2]);
    expect(await found({ outcome: "refused" })).toEqual([3]);
    expect(await found({ sinceMs: midnight })).toEqual([4]);
    expect(await found({ untilMs: midnight })).toEqual([3, 2, 1]);
    expect(await found({ actor: "' OR 1=1 --" })).toEqual([]);
  });

  it("can be searched by an airport on whose change somebody has decided", async () => {
    const changes = ["GVA", "ZRH"].map((iata) => ({ iata }));
    await audit.save([
      entry(1, { after: { approved: 2, changes } }),
      entry(2, { after: { changes: [{ iata: null }] } }),
      entry(3, { after: null }),
      entry(4, { after: "GVA" }),
    ]);
    const found = async (iata: string) =>
      (await list({ iata })).entries.map(({ id }) => Number(id.slice(-1)));
    expect(await found("ZRH")).toEqual([1]);
    expect(await found("' OR 1=1 --")).toEqual([]);
  });

  it("deletes entries older than 400 days, but never the newest ones, even if the clock is wrong", async () => {
    const now = Date.parse("2026-11-01T00:00:00.000Z");
    const at = (days: number) => new Date(now - days * 86_400_000).toISOString();
    const save = async (from: number, to: number, days: number) => {
      const numbers = Array.from({ length: to - from }, (_, index) => from + index);
      await audit.save(numbers.map((number) => entry(number, { at: at(days) })));
    };
    await save(1, 3, 401);
    await save(3, NEWEST_KEPT + 1, 399);
    const total = async () => (await list({ limit: 1 })).total;
    await audit.deleteOld(now);
    expect(await total()).toBe(NEWEST_KEPT);
    await save(NEWEST_KEPT + 1, NEWEST_KEPT + 5, 399);
    await audit.deleteOld(now);
    expect(await total()).toBe(NEWEST_KEPT + 2);
    await audit.deleteOld(now + 500 * 86_400_000);
    expect(await total()).toBe(NEWEST_KEPT);
  });
});
