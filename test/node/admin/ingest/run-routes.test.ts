import { beforeEach, describe, expect, it, vi } from "vitest";
import { nothingChanged } from "../../../../src/ingest/change-sample.ts";
import type { Run } from "../../../../src/schemas/run.ts";
import { AdminWorld, type Json } from "../../../builders/admin-world.ts";
import { anId } from "../../../builders/an-id.ts";
import { aRunRecord } from "../../../builders/run.ts";

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
});

/** A run that has ended, whose id ascends with `number`. */
function aRun(number: number, changes: Partial<Run> = {}): Run {
  return aRunRecord({ id: anId(number), state: "succeeded", ...changes }).job;
}

async function page(query = ""): Promise<Json> {
  const answer = await world.request(`/admin/ingest/runs${query}`);
  expect(answer.status).toBe(200);
  return answer.json();
}

const detail = (id: string) => world.request(`/admin/ingest/runs/${id}`);

describe("GET /admin/ingest/runs", () => {
  it("lists runs page by page, the newest first, and says whether ingestion is paused", async () => {
    await world.saveRuns(aRun(1), aRun(2), aRun(3));
    await world.post("/admin/ingest/pause");
    const { next_cursor, ...first } = await page("?limit=2");
    expect(first).toMatchObject({ runs: [{ id: anId(3) }, { id: anId(2) }], total: 3 });
    expect(await page(`?limit=2&cursor=${String(next_cursor)}`)).toMatchObject({
      runs: [{ id: anId(1) }],
      next_cursor: null,
      total: 3,
      paused: true,
    });
  });

  it("selects by state and trigger, even runs that D1 does not have yet", async () => {
    await world.saveRuns(aRun(1, { state: "failed" }), aRun(2, { trigger: "cron" }));
    const { run } = await world.ingest.enqueue({ mode: "full" });
    for (const [query, ids] of [
      ["?state=failed", [anId(1)]],
      ["?trigger=cron", [anId(2)]],
      ["?trigger=manual&state=queued", [run.id]],
    ] as const)
      expect(await page(query), query).toMatchObject({
        runs: ids.map((id) => ({ id })),
        total: ids.length,
      });
  });

  it.each(["coordinator", "coordinator unwrittenRuns", "coordinator status"])(
    "lists the runs in D1 while “%s” fails, and leaves the pause unknown",
    async (call) => {
      await world.saveRuns(aRun(1));
      world.breakCalls(call);
      expect(await page()).toMatchObject({ runs: [{ id: anId(1) }], paused: null });
    },
  );

  it("waits for a busy coordinator only for a limited time", async () => {
    await world.saveRuns(aRun(1));
    world.before = () => new Promise(() => {});
    vi.useFakeTimers();
    try {
      const asked = page();
      await vi.advanceTimersByTimeAsync(2_000);
      expect(await asked).toMatchObject({ runs: [{ id: anId(1) }], paused: null });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("GET /admin/ingest/runs/{id}", () => {
  it("shows the present state of the run with its changes, which no list and no cancellation shows", async () => {
    await world.ingest.publishVersions(1);
    world.ingest.renameAirport("Kloten");
    const { run } = await world.ingest.enqueue();
    await world.ingest.drain(() => world.ingest.run(run.id).changes !== null);
    const answer = await detail(run.id);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const text = await answer.text();
    expect(JSON.parse(text)).toEqual(world.ingest.run(run.id));
    expect(text).toContain('"changes":{"locale":"en"');
    const list = await world.request("/admin/ingest/runs");
    const cancelled = await world.post(`/admin/ingest/runs/${run.id}/cancel`);
    for (const other of [list, cancelled]) expect(await other.text()).not.toContain('"changes"');
  });

  it("shows ended runs from D1 while the coordinator is away, and answers 503 for the others", async () => {
    world.breakCalls("coordinator");
    const ended = aRun(1, { changes: nothingChanged("de") });
    await world.saveRuns(ended, aRun(2, { state: "running" }));
    expect(await (await detail(ended.id)).json()).toMatchObject(ended);
    for (const number of [2, 3]) {
      const answer = await detail(anId(number));
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({ code: "coordinator_unavailable" });
    }
  });

  it("waits for a busy coordinator only if D1 does not have the end of the run", async () => {
    await world.saveRuns(aRun(1));
    const { run } = await world.ingest.enqueue();
    const busy = Promise.withResolvers<void>();
    world.before = () => busy.promise;
    vi.useFakeTimers();
    try {
      const ended = detail(anId(1));
      const open = detail(run.id);
      await vi.advanceTimersByTimeAsync(2_000);
      expect((await ended).status).toBe(200);
      busy.resolve();
      expect(await (await open).json()).toMatchObject({ id: run.id, state: "queued" });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("POST /admin/ingest/runs/{id}/cancel", () => {
  const cancel = (id: string, body?: object) => world.post(`/admin/ingest/runs/${id}/cancel`, body);

  it("cancels a waiting run, and says the second time that nothing changed", async () => {
    const { run } = await world.ingest.enqueue();
    const answer = await cancel(run.id, { note: "not now" });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      changed: true,
      run: { id: run.id, state: "cancelled", cancellation: { by: "ops", note: "not now" } },
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
    const again = await cancel(run.id);
    expect(again.status).toBe(200);
    expect(await again.json()).toMatchObject({
      changed: false,
      message: expect.stringContaining("Nothing changed"),
    });
  });

  it("says that nothing changed for a cancelled run that only D1 has", async () => {
    await world.saveRuns(aRun(1, { state: "cancelled" }), aRun(2), aRun(3, { state: "running" }));
    const again = await cancel(anId(1));
    expect(again.status).toBe(200);
    expect(await again.json()).toMatchObject({ changed: false, run: { id: anId(1) } });
    expect(await (await cancel(anId(2))).json()).toMatchObject({ code: "run_ended" });
    expect(await (await cancel(anId(3))).json()).toMatchObject({ code: "run_lost" });
  });

  it("refuses a run that has ended and one that has published", async () => {
    const ended = await world.ingest.runToEnd();
    world.ingest.renameAirport("Kloten");
    const published = await world.ingest.runUpTo("verify");
    for (const [target, code] of [
      [ended.id, "run_ended"],
      [published.id, "run_published"],
    ] as const) {
      const answer = await cancel(target);
      expect(answer.status).toBe(409);
      expect(await answer.json()).toMatchObject({ code });
      expect(world.audited.at(-1)).toMatchObject({ target, outcome: "refused", code });
    }
  });
});
