import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type AlertRunQuery, createAlertHistory } from "../../../src/storage/alert-history.ts";
import { NEWEST_KEPT } from "../../../src/storage/rows.ts";
import { anAlertResult, anAlertRun } from "../../builders/alert-run.ts";
import type { AlertRun } from "../../../src/schemas/alert-run.ts";

const history = createAlertHistory(env.HISTORY);
const DAY_MS = 24 * 60 * 60 * 1000;
const START = Date.parse("2026-11-01T00:00:00.000Z");
const timeOf = (ms: number) => new Date(ms).toISOString();

/** Id of the n-th evaluation. */
const idOf = (n: number) => `019aa3c0-0000-7000-8000-${n.toString(16).padStart(12, "0")}`;

/** The n-th evaluation, n minutes after `START`. */
function aRun(n: number, changes: Partial<AlertRun> = {}): AlertRun {
  return anAlertRun({ id: idOf(n), started_at: timeOf(START + n * 60_000), ...changes });
}

const stale = anAlertResult({ state: "firing" });
const gap = anAlertResult({
  rule: "monitor_gap",
  fingerprint: "ffff",
  severity: "warn",
  state: "pending",
});

async function list(query: Partial<AlertRunQuery> = {}) {
  const page = await history.listRuns({ limit: 50, ...query });
  if (!page.ok) throw new Error(page.reason);
  const ids = page.runs.map(({ id }) => Number.parseInt(id.slice(-12), 16));
  return { ids, nextCursor: page.nextCursor, total: page.total };
}

beforeEach(async () => {
  await env.HISTORY.exec("DELETE FROM alert_runs");
});

describe("saveRuns", () => {
  it("saves every field of an evaluation", async () => {
    const run = aRun(1, {
      worst: "fail",
      changed: true,
      results: [stale, gap],
      deliveries: [
        {
          target: "ops",
          delivered: true,
          attempts: 1,
          status: 200,
          error: null,
          at: timeOf(START),
          duration_ms: 12,
        },
      ],
    });
    await history.saveRuns([run]);
    expect(await history.listRuns({ limit: 1 })).toMatchObject({ runs: [run] });
  });

  it("may be repeated, and replaces an interrupted evaluation", async () => {
    const unfinished = aRun(1, { finished_at: null, duration_ms: null, results: [stale] });
    const ended = aRun(1, { results: [] });
    await history.saveRuns([unfinished]);
    await history.saveRuns([unfinished]);
    expect((await list({ state: "firing" })).ids).toEqual([1]);
    await history.saveRuns([ended]);
    expect(await history.listRuns({ limit: 9 })).toMatchObject({ runs: [ended], total: 1 });
    expect((await list({ state: "firing" })).ids).toEqual([]);
  });
});

describe("listRuns", () => {
  beforeEach(async () => {
    await history.saveRuns([
      aRun(1),
      aRun(2, { results: [stale], worst: "fail", changed: true }),
      aRun(3, { results: [stale, gap], worst: "fail" }),
      aRun(4, { results: [gap], worst: "warn", changed: true }),
      aRun(5),
    ]);
  });

  it.each<[Partial<AlertRunQuery>, number[]]>([
    [{}, [5, 4, 3, 2, 1]],
    [{ state: "firing" }, [3, 2]],
    [{ state: "pending" }, [4, 3]],
    [{ state: "resolved" }, []],
    [{ rule: "monitor_gap" }, [4, 3]],
    [{ rule: "catalog_stale" }, [3, 2]],
    [{ rule: "monitor_gap", state: "firing" }, []],
    [{ rule: "monitor_gap", state: "pending" }, [4, 3]],
    [{ worst: "fail" }, [3, 2]],
    [{ changed: true }, [4, 2]],
    [{ changed: false }, [5, 3, 1]],
    [{ worst: "fail", changed: false, rule: "catalog_stale" }, [3]],
    [{ sinceMs: START + 2 * 60_000 }, [5, 4, 3, 2]],
    [{ untilMs: START + 2 * 60_000 }, [1]],
    [{ sinceMs: START + 2 * 60_000, untilMs: START + 4 * 60_000 }, [3, 2]],
    [{ rule: "' OR 1=1 --" }, []],
  ])("lists with %j the evaluations %j", async (query, ids) => {
    expect(await list(query)).toEqual({ ids, nextCursor: null, total: ids.length });
  });

  it("ignores malformed results, which a restored backup may contain", async () => {
    const insert = env.HISTORY.prepare("INSERT INTO alert_runs (id, run) VALUES (?, ?)");
    for (const [n, results] of [7, "text", ["text"], [7], [["rule"]], null].entries())
      await insert.bind(idOf(90 + n), JSON.stringify({ results })).run();
    expect((await list({ rule: "monitor_gap", state: "pending" })).ids).toEqual([4, 3]);
  });
});

describe("deleteOldRuns", () => {
  it("keeps quiet evaluations for 30 days and those with a change for 365 days", async () => {
    const now = START + 400 * DAY_MS;
    const aged = (n: number, days: number, changed: boolean, results = [stale]) =>
      aRun(n, { started_at: timeOf(now - days * DAY_MS), changed, results });
    // The newest are kept whatever their age.
    for (let from = 100; from < 100 + NEWEST_KEPT; from += 100)
      await history.saveRuns(Array.from({ length: 100 }, (_, n) => aged(from + n, 0, false, [])));
    await history.saveRuns([
      aged(1, 366, true),
      aged(2, 365, true),
      aged(3, 31, false),
      aged(4, 31, true),
      aged(5, 30, false),
      aged(6, 0, false),
    ]);
    expect(await history.deleteOldRuns(now)).toBe(2);
    expect((await list({ state: "firing" })).ids).toEqual([6, 5, 4, 2]);
    expect(await history.deleteOldRuns(now)).toBe(0);
    await history.deleteOldRuns(now + 500 * DAY_MS);
    expect((await list()).total).toBe(NEWEST_KEPT);
  });
});

describe("ping", () => {
  it("throws while D1 does not answer", async () => {
    await history.ping();
    vi.spyOn(env.HISTORY, "prepare").mockImplementation(() => {
      throw new Error("D1_ERROR: down");
    });
    await expect(history.ping()).rejects.toThrow();
    vi.restoreAllMocks();
  });
});
