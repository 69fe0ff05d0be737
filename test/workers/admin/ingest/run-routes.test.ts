import { beforeEach, describe, expect, it, vi } from "vitest";
import { CoordinatorUnavailable } from "../../../../src/admin/calls/coordinator-calls.ts";
import { nothingChanged } from "../../../../src/ingest/change-sample.ts";
import type { Run } from "../../../../src/ingest/run.ts";
import { READER_TOKEN } from "../../../builders/admin-tokens.ts";
import { AdminWorld, type Json } from "../../../builders/admin-world.ts";
import { aRunRecord } from "../../../builders/run.ts";

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
});

/** A run whose id ascends with `number`. */
function aRun(number: number, changes: Partial<Run> = {}): Run {
  const id = `019aa3c0-0000-7000-8000-${String(number).padStart(12, "0")}`;
  return aRunRecord({ id, state: "succeeded", ...changes }).job;
}

interface Page {
  readonly runs: readonly { readonly id: string; readonly state: string }[];
  readonly next_cursor: string | null;
  readonly total: number;
  readonly paused: boolean | null;
}

async function page(query = ""): Promise<Page> {
  const answer = await world.request(`/admin/ingest/runs${query}`);
  expect(answer.status).toBe(200);
  return answer.json();
}

describe("GET /admin/ingest/runs", () => {
  it("lists runs, the newest first, and whether ingestion is paused", async () => {
    for (const run of [aRun(1), aRun(2), aRun(3)]) world.history.add(run);
    world.pause = { at: "2026-11-01T04:00:00.000Z", by: "ops", reason: null, until: null };
    const { runs, ...rest } = await page();
    expect(runs.map(({ id }) => id)).toEqual([aRun(3).id, aRun(2).id, aRun(1).id]);
    expect(rest).toEqual({ next_cursor: null, total: 3, paused: true });
  });

  it("pages to the end without losing or repeating a run", async () => {
    for (let number = 1; number <= 7; number++) world.history.add(aRun(number));
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const found: Page = await page(`?limit=3${cursor && `&cursor=${cursor}`}`);
      seen.push(...found.runs.map(({ id }) => id));
      expect(found.total).toBe(7);
      cursor = found.next_cursor;
    }
    expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1].map((number) => aRun(number).id));
  });

  it("shows a run that D1 has not been told of yet", async () => {
    world.history.add(aRun(1));
    world.unsettled.push(aRun(2, { state: "queued" }));
    const { runs, total } = await page();
    expect(runs).toMatchObject([
      { id: aRun(2).id, state: "queued" },
      { id: aRun(1).id, state: "succeeded" },
    ]);
    expect(total).toBe(2);
  });

  it("shows a run as it is now where D1 has it as it was", async () => {
    world.history.add(aRun(1, { state: "running" }));
    world.unsettled.push(aRun(1, { state: "failed" }));
    expect(await page()).toMatchObject({ runs: [{ state: "failed" }], total: 1 });
    expect(await page("?state=running")).toMatchObject({ runs: [], total: 0 });
    expect(await page("?state=failed")).toMatchObject({ runs: [{ id: aRun(1).id }], total: 1 });
  });

  it("pages through runs of which D1 lacks some", async () => {
    for (const number of [1, 3, 4, 6]) world.history.add(aRun(number));
    for (const number of [2, 4, 5, 7]) world.unsettled.push(aRun(number, { state: "failed" }));
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const found: Page = await page(`?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...found.runs.map(({ id }) => id));
      expect(found.total).toBe(7);
      cursor = found.next_cursor;
    }
    expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1].map((number) => aRun(number).id));
  });

  it("lists what D1 has while the coordinator is away, and does not know of a pause", async () => {
    world.history.add(aRun(1));
    world.isReachable = false;
    expect(await page()).toMatchObject({ runs: [{ id: aRun(1).id }], paused: null });
  });

  it("does not know of a pause either where the coordinator says only that, and not the runs", async () => {
    world.history.add(aRun(1));
    let calls = 0;
    world.reach = async () => {
      if (++calls === 1) throw new CoordinatorUnavailable("away for one call");
    };
    expect(await page()).toMatchObject({ runs: [{ id: aRun(1).id }], paused: null });
    expect(calls).toBe(2);
  });

  it("does not wait for ever for a coordinator that a step keeps busy", async () => {
    world.history.add(aRun(1));
    world.reach = () => new Promise(() => {});
    vi.useFakeTimers();
    try {
      const asked = page();
      await vi.advanceTimersByTimeAsync(2_000);
      expect(await asked).toMatchObject({ runs: [{ id: aRun(1).id }], paused: null });
    } finally {
      vi.useRealTimers();
    }
  });

  it("is 503 while D1 does not answer", async () => {
    world.history.isDown = true;
    const answer = await world.request("/admin/ingest/runs");
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("10");
    expect(await answer.json()).toMatchObject({ code: "history_unavailable" });
  });

  it.each([
    ["?stat=failed", 'unknown parameter "stat"'],
    ["?state=broken", "state: "],
    ["?outcome=done", "outcome: "],
    ["?trigger=me", "trigger: "],
    ["?since=yesterday", "since: must be a time"],
    ["?until=2026-11-01", "until: must be a time"],
    ["?until=9999-12-31T23:59:59-23:59", "until: must be within the years"],
    ["?limit=0", "limit: must be a whole number from 1 to 200"],
    ["?limit=201", "limit: must be a whole number from 1 to 200"],
    ["?limit=1e2", "limit: must be a whole number"],
    ["?limit=", "limit: must be a whole number"],
    ["?cursor=x", "cursor: must be the next_cursor"],
    ["?state=failed&state=queued", '"state" is given twice'],
    ["?__proto__=1", 'unknown parameter "__proto__"'],
  ])("refuses %s, and names what is wrong", async (query, named) => {
    const answer = await world.request(`/admin/ingest/runs${query}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ detail: expect.stringContaining(named) });
  });
});

describe("GET /admin/ingest/runs/{id}", () => {
  it("answers with the run, in snake_case, and the names in it as they are", async () => {
    const upstream = { "airports.csv.gz": { sha256: "0".repeat(64), bytes: 7, etag: '"a"' } };
    const run = aRun(1, { upstream, attempt: 2, rejects_total: 3 });
    world.runs.set(run.id, run);
    const answer = await world.request(`/admin/ingest/runs/${run.id}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await answer.json()).toMatchObject({
      id: run.id,
      queued_at: run.queued_at,
      catalog_sha256: null,
      upstream,
      attempt: 2,
      rejects_total: 3,
      parent_run_id: null,
    });
  });

  it("shows what the run changes, as no list and no change does", async () => {
    const changes = nothingChanged("en");
    const run = aRun(1, { state: "running", changes });
    world.runs.set(run.id, run);
    world.history.add(run);
    const shown = async (answer: Promise<Response>) => (await answer).json<Json>();
    const path = `/admin/ingest/runs/${run.id}`;
    expect(await shown(world.request(path))).toMatchObject({ changes });
    const list = await shown(world.request("/admin/ingest/runs"));
    const cancelled = await shown(world.post(`${path}/cancel`));
    for (const answer of [list, cancelled])
      expect(JSON.stringify(answer)).not.toContain('"changes"');
  });

  it("shows from D1 what a run has changed that the coordinator has forgotten", async () => {
    const changes = nothingChanged("de");
    world.history.add(aRun(1, { changes }));
    const answer = await world.request(`/admin/ingest/runs/${aRun(1).id}`);
    expect(await answer.json()).toMatchObject({ changes });
  });

  it("answers from D1 what the coordinator no longer remembers", async () => {
    world.history.add(aRun(1));
    const answer = await world.request(`/admin/ingest/runs/${aRun(1).id}`);
    expect(await answer.json()).toMatchObject({ id: aRun(1).id, state: "succeeded" });
  });

  it("answers from D1 what has ended while the coordinator is away, and 503 for the rest", async () => {
    world.isReachable = false;
    world.history.add(aRun(1));
    world.history.add(aRun(2, { state: "running" }));
    expect((await world.request(`/admin/ingest/runs/${aRun(1).id}`)).status).toBe(200);
    for (const number of [2, 3]) {
      const answer = await world.request(`/admin/ingest/runs/${aRun(number).id}`);
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({ code: "coordinator_unavailable" });
    }
  });

  it("is 404 for a run that nobody knows", async () => {
    const answer = await world.request(`/admin/ingest/runs/${aRun(9).id}`);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: "run_not_found" });
  });

  it.each(["1", "..%2F..%2Fetc", "%00", "null", "01A1FC3F-B811-406C-8D6D-9E5359A10797"])(
    "is 404 for %s",
    async (id) => {
      const answer = await world.request(`/admin/ingest/runs/${id}`);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: "not_found" });
    },
  );
});

describe("POST /admin/ingest/runs/{id}/cancel", () => {
  const cancel = (run: Run) => world.post(`/admin/ingest/runs/${run.id}/cancel`);

  it("cancels a run that waits", async () => {
    const run = aRun(1, { state: "queued" });
    world.runs.set(run.id, run);
    const answer = await cancel(run);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      disposition: "cancelled",
      run: { id: run.id, state: "cancelled" },
    });
    expect(world.audited).toMatchObject([
      {
        action: "ingest.cancel",
        target: run.id,
        outcome: "done",
        before: { state: "queued" },
        after: { state: "cancelled" },
      },
    ]);
  });

  it("says that a run under way ends at its next step", async () => {
    const run = aRun(1, { state: "running", stage: "encode" });
    world.runs.set(run.id, run);
    expect(await (await cancel(run)).json()).toMatchObject({ disposition: "cancelling" });
  });

  it.each([
    [{ state: "succeeded" }, 409, "run_ended"],
    [{ state: "running", stage: "verify" }, 409, "run_published"],
  ] as const)("refuses one that is %j", async (changes, status, code) => {
    const run = aRun(1, changes);
    world.runs.set(run.id, run);
    const answer = await cancel(run);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ code });
    expect(world.audited).toMatchObject([{ target: run.id, outcome: "refused", code }]);
  });

  it("refuses one that nobody knows", async () => {
    expect(await (await cancel(aRun(9))).json()).toMatchObject({
      status: 404,
      code: "run_not_found",
    });
  });

  it("says of a second call that nothing has changed", async () => {
    const run = aRun(1, { state: "queued" });
    world.runs.set(run.id, run);
    await cancel(run);
    const answer = await cancel(run);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      disposition: "cancelled",
      message: expect.stringContaining("nothing changed"),
    });
  });

  it("wants the scope operate", async () => {
    const run = aRun(1, { state: "queued" });
    world.runs.set(run.id, run);
    const headers = { authorization: `Bearer ${READER_TOKEN}` };
    const answer = await world.post(`/admin/ingest/runs/${run.id}/cancel`, {}, headers);
    expect(answer.status).toBe(403);
    expect(world.runs.get(run.id)?.state).toBe("queued");
  });
});

describe("an error that nobody expected", () => {
  it("is answered 500 without its cause", async () => {
    world.runs.get = () => {
      throw new Error("secret detail");
    };
    const answer = await world.request(`/admin/ingest/runs/${aRun(1).id}`);
    expect(answer.status).toBe(500);
    const text = await answer.text();
    const problem: Json = JSON.parse(text);
    expect(problem).toMatchObject({ code: "internal", detail: "Internal error." });
    expect(text).not.toContain("secret detail");
  });
});
