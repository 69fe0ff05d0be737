import { beforeEach, describe, expect, it } from "vitest";
import { RUN_MODES } from "../../../../src/schemas/run-words.ts";
import type { Run } from "../../../../src/schemas/run.ts";
import { StoreError } from "../../../../src/platform/deadline.ts";
import { AdminWorld, type Json } from "../../../builders/admin-world.ts";
import { anId } from "../../../builders/an-id.ts";

const HOUR_MS = 3_600_000;

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
});

const queue = (body?: unknown) => world.post("/admin/ingest/queue", body);
const pause = (body?: unknown) => world.post("/admin/ingest/pause", body);
const resume = (body?: unknown) => world.post("/admin/ingest/resume", body);

/** Runs that wait. */
const queued = () => world.ingest.coordinator.status().queued;

/** The time so many hours from now. */
const later = (hours: number) => new Date(world.ingest.time + hours * HOUR_MS).toISOString();

/** What is shown where ingestion is not paused. */
const NO_PAUSE = { paused: false, paused_at: null, paused_by: null, note: null, until: null };

/** Fills the queue. */
async function fill(): Promise<void> {
  for (const mode of RUN_MODES)
    for (const source of ["embedded", "ourairports", "dropped", "other"].slice(0, 4))
      if (queued().length < 10) await world.ingest.enqueue({ mode, source, forced: true });
}

describe("POST /admin/ingest/queue", () => {
  it("answers 202 with the queued run and its location", async () => {
    const answer = await queue({ source: "dropped", mode: "dry_run", force: true, note: "why" });
    expect(answer.status).toBe(202);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const asked = { source: "dropped", mode: "dry_run", forced: true, note: "why" };
    const { run, ...rest } = await answer.json<{ run: Json }>();
    expect(rest).toMatchObject({ changed: true, will_start: "now" });
    expect(run).toMatchObject({ ...asked, state: "queued", requested_by: "ops" });
    expect(answer.headers.get("location")).toBe(`/admin/ingest/runs/${String(run["id"])}`);
    expect(queued()).toMatchObject([{ ...asked, id: run["id"] }]);
  });

  it.each([undefined, "", " \n", "{}"])(
    "takes %j for the defaults, and answers 200 while the run waits",
    async (body) => {
      expect((await queue(body)).status).toBe(202);
      expect(queued()).toMatchObject([{ mode: "incremental", source: "embedded", forced: false }]);
      const again = await queue(body);
      expect(again.status).toBe(200);
      expect(again.headers.get("location")).toBe(`/admin/ingest/runs/${queued()[0]?.id}`);
      expect(queued()).toHaveLength(1);
    },
  );

  it.each([
    "application/json; charset=utf-8",
    'Application/JSON;a=b; charset="UTF-8" ',
    "application/merge-patch+json",
    "application/json; charset= utf-8",
    "application/json ; charset = utf-8 ; a=b",
    "application/json;charset=UTF8",
    "application/json;",
    "application/json;;charset=utf-8;",
    "application/json;\tcharset=\tutf-8",
    'application/json; a="charset=latin1"',
    `application/json; a=${" ".repeat(4000)}b`,
    `application/json; charset=${" ".repeat(4000)}utf-8`,
  ])("accepts JSON as %s", async (type) => {
    const answer = await world.post("/admin/ingest/queue", "{}", { "content-type": type });
    expect(answer.status).toBe(202);
  });

  it("accepts an empty body of any type", async () => {
    expect((await world.request("/admin/ingest/queue", { method: "POST" })).status).toBe(202);
  });

  it("accepts a note that looks like fields", async () => {
    expect((await queue({ note: '"mode":1,"mode":2 {"a":1,"a":2}' })).status).toBe(202);
  });

  it("accepts a body of 16 KiB", async () => {
    expect((await queue("{}".padEnd(16 * 1024))).status).toBe(202);
  });

  it("stops reading a body once it is too long", async () => {
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(4096));
      },
    });
    const init = { method: "POST", body: endless, duplex: "half" };
    expect((await world.request("/admin/ingest/queue", init)).status).toBe(413);
    expect(pulled).toBeLessThan(20);
  });
});

describe("POST /admin/ingest/queue with a candidate", () => {
  let refused: Run;
  const approve = (more: object = {}) => queue({ candidate_of: refused.id, force: true, ...more });

  beforeEach(async () => {
    await world.ingest.runToEnd();
    world.ingest.setAirports(10);
    refused = await world.ingest.runToEnd();
  });

  it("builds from the archived files of the candidate, which the answer and the audit name", async () => {
    const answer = await approve();
    expect(answer.status).toBe(202);
    const asked = { candidate_of: refused.id, source: "embedded", forced: true };
    expect(await answer.json()).toMatchObject({ run: asked });
    expect(queued()).toMatchObject([{ ...asked, upstream: refused.upstream }]);
    expect(world.audited).toMatchObject([
      {
        action: "ingest.queue",
        outcome: "done",
        request: { candidate_of: refused.id, force: true },
        after: { candidate_of: refused.id },
      },
    ]);
  });

  it("accepts a run that only D1 remembers, and its source if that is named", async () => {
    const id = anId(1);
    await world.saveRuns({ ...refused, id });
    const answer = await approve({ candidate_of: id, source: "embedded", mode: "full" });
    expect(answer.status).toBe(202);
    expect(queued()).toMatchObject([{ candidate_of: id, source: "embedded", mode: "full" }]);
  });

  it("answers 400 if another source is named, and says which one it was", async () => {
    const answer = await approve({ source: "dropped" });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      code: "invalid_body",
      detail: `source: run ${refused.id} is of "embedded"; leave it out, or name the same`,
    });
  });

  const failArchive = (name: string) => () => {
    world.ingest.before = (call) => {
      if (call.startsWith("archive get")) throw Object.assign(new StoreError(call), { name });
    };
  };

  it.each<[string, number, string, () => unknown, number?]>([
    ["of a run that there is not", 404, "run_not_found", () => {}, 2],
    ["that has fetched nothing", 409, "nothing_fetched", () => {}, 1],
    [
      "whose files are deleted",
      409,
      "candidate_gone",
      () => world.ingest.archive.bucket.files.clear(),
    ],
    ["while the archive fails", 503, "archive_unavailable", failArchive("StoreError")],
    ["while the archive hangs", 503, "archive_unavailable", failArchive("StoreTimeout")],
    ["that only D1 might know", 503, "history_unavailable", () => world.breakD1(), 2],
  ])("answers a candidate %s with %i %s", async (_, status, code, happen, number) => {
    await world.saveRuns({ ...refused, id: anId(1), upstream: {} });
    happen();
    const answer = await approve(number === undefined ? {} : { candidate_of: anId(number) });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ code });
    expect(queued()).toEqual([]);
  });
});

describe("POST /admin/ingest/pause", () => {
  it("says since when, by whom, why and until when, and the second time that nothing changed", async () => {
    const until = later(24);
    const asked = { note: "bad source", until: until.replace("Z", "+00:00") };
    const answer = await pause(asked);
    expect(answer.status).toBe(200);
    const state = {
      paused: true,
      paused_at: later(0),
      paused_by: "ops",
      note: "bad source",
      until,
      run: null,
    };
    const message = `Ingestion is paused, until ${until}.`;
    expect(await answer.json()).toEqual({ ...state, changed: true, message });
    world.ingest.time += HOUR_MS;
    const again = `Ingestion was paused already, until ${until}.`;
    expect(await (await pause(asked)).json()).toEqual({
      ...state,
      changed: false,
      message: again,
    });
  });

  it("keeps the end of a pause if the request omits it, and removes it for null", async () => {
    const until = later(24);
    await pause({ until });
    expect(await (await pause({ note: "bad source" })).json()).toMatchObject({ until });
    const message = "Ingestion was paused already.";
    const changes = { changed: true, until: null, note: "bad source", message };
    expect(await (await pause({ until: null })).json()).toMatchObject(changes);
  });

  it.each([
    ["build", false, "stops at its next step and goes on after resume", undefined],
    ["build", true, "ends at its next step", true],
    ["verify", true, "has published already.", undefined],
  ] as const)(
    "says before the step %s, with cancel_running %s, that the run %s",
    async (stage, cancel_running, becomes, ended) => {
      const { id } = await world.ingest.runUpTo(stage);
      const { message } = await (await pause({ cancel_running })).json<Json>();
      expect(message).toContain(`Ingestion is paused. Run ${id} ${becomes}`);
      const { run_id, run_changed } = { ...Object(world.audited[0]?.after) };
      const isNamed = ended !== undefined;
      expect({ run_id, run_changed }).toEqual({
        run_id: isNamed ? id : undefined,
        run_changed: ended,
      });
    },
  );

  it("accepts a year, after which a new coordinator still answers, and refuses more", async () => {
    const until = later(366 * 24);
    expect(await (await pause({ until })).json()).toMatchObject({ until });
    world.ingest.crash();
    expect(world.ingest.coordinator.status()).toMatchObject({ pause: { until } });
    for (const beyond of [later(367 * 24), "2099-12-31T23:59:59Z"])
      expect(await (await pause({ until: beyond })).json()).toMatchObject({
        detail: expect.stringContaining("until: must be at most 366 days in the future"),
      });
  });
});

describe("GET /admin/ingest/pause", () => {
  it("shows the pause as data", async () => {
    const show = async () => (await world.request("/admin/ingest/pause")).json();
    expect(await show()).toEqual(NO_PAUSE);
    const until = later(24);
    await pause({ note: "bad source", until });
    const state = { paused: true, paused_at: later(0), paused_by: "ops", note: "bad source" };
    expect(await show()).toEqual({ ...state, until });
    world.ingest.time += 25 * HOUR_MS;
    expect(await show()).toEqual(NO_PAUSE);
  });
});

describe("GET /admin/ingest/queue", () => {
  it("shows the running job, and when each waiting run starts", async () => {
    const show = async () => (await world.request("/admin/ingest/queue")).json();
    expect(await show()).toEqual({ paused: false, running: null, queued: [] });
    const running = await world.ingest.runUpTo("build");
    const first = await (await queue()).json<{ run: { id: string } }>();
    await queue({ mode: "full", note: "after it" });
    expect(await show()).toMatchObject({
      paused: false,
      running: { id: running.id, state: "running" },
      queued: [
        { queue_position: 1, will_start: `after_run:${running.id}`, run: { id: first.run.id } },
        { queue_position: 2, will_start: `after_run:${first.run.id}`, run: { note: "after it" } },
      ],
    });
    await pause();
    expect(await show()).toMatchObject({
      paused: true,
      queued: [{ will_start: "on_resume" }, { will_start: "on_resume" }],
    });
  });
});

describe("POST /admin/ingest/resume", () => {
  it("lifts a pause once", async () => {
    await pause();
    const first = await resume({ note: "fixed" });
    expect(first.status).toBe(200);
    const message = "Ingestion has resumed.";
    expect(await first.json()).toEqual({ ...NO_PAUSE, changed: true, run: null, message });
    expect(await (await resume()).json()).toMatchObject({
      changed: false,
      message: "Ingestion was not paused.",
    });
  });

  it("queues a run on request, and names its location", async () => {
    const answer = await resume({ run_now: true, note: "fixed" });
    const [run] = queued();
    expect(run).toMatchObject({ trigger: "resume", requested_by: "ops", note: "fixed" });
    expect(answer.headers.get("location")).toBe(`/admin/ingest/runs/${run?.id}`);
    expect(await answer.json()).toMatchObject({
      changed: true,
      run: { id: run?.id },
      message: "Ingestion was not paused. The run is queued. It starts now.",
    });
    expect(world.audited).toMatchObject([
      { after: { paused: false, run_id: run?.id, run_changed: true } },
    ]);
  });

  it("says that the run was refused although the pause ended", async () => {
    await pause();
    await fill();
    const answer = await resume({ run_now: true });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      changed: true,
      message: "Ingestion has resumed. No run was queued: queue full.",
    });
    expect(world.audited.at(-1)).toMatchObject({
      outcome: "done",
      after: { paused: false },
    });
  });
});

describe("the admin routes while the coordinator does not answer", () => {
  it.each([
    ["POST", "/admin/ingest/pause", {}, "ingest.pause", 2],
    ["POST", "/admin/ingest/resume", {}, "ingest.resume", 2],
    ["POST", "/admin/ingest/queue", {}, "ingest.queue", 1],
    ["POST", `/admin/ingest/runs/${anId(1)}/cancel`, {}, "ingest.cancel", 2],
    ["POST", "/admin/catalog/rollback", { generation: 1 }, "catalog.rollback", 2],
    ["POST", "/admin/backup/run", {}, "backup.run", 2],
    ["POST", `/admin/backup/${anId(1)}/verify`, {}, "backup.verify", 2],
    ["POST", `/admin/backup/${anId(1)}/restore`, {}, "backup.restore", 2],
    ["DELETE", `/admin/backup/${anId(1)}`, {}, "backup.delete", 1],
  ])(
    "answer 503 to %s %s, and the audit says that the effect is unknown",
    async (method, path, fields, action, attempts) => {
      let calls = 0;
      world.before = () => {
        calls++;
        throw new Error("the coordinator is away");
      };
      const body = method === "POST" ? JSON.stringify(fields) : null;
      const headers = { "content-type": "application/json" };
      const answer = await world.request(path, { method, body, headers });
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toBe("10");
      const code = "coordinator_unavailable";
      expect(await answer.json()).toMatchObject({ code });
      expect(world.audited).toMatchObject([{ action, outcome: "failed", code }]);
      // A call that may not take effect twice is made once.
      expect(calls).toBe(attempts);
    },
  );
});

describe("the header Idempotency-Key", () => {
  const send = async (key: string, body: object = {}) => {
    const answer = await world.post("/admin/ingest/queue", body, { "idempotency-key": key });
    return { status: answer.status, ...(await answer.json<{ code?: string; run?: Run }>()) };
  };

  it("gives a repeated request the run of the first, whether it waits, runs or has ended", async () => {
    const first = await send("a");
    expect(first).toMatchObject({ status: 202, changed: true, will_start: "now" });
    const repeated = { status: 200, changed: false, run: { id: first.run?.id } };
    expect(await send("a")).toMatchObject({ ...repeated, will_start: "now", queue_position: 1 });
    await world.ingest.drain(() => world.ingest.nextStage(first.run?.id ?? "") === "guard");
    const started = { ...repeated, will_start: "begun", queue_position: 0 };
    expect(await send("a")).toMatchObject({
      ...started,
      message: expect.stringContaining("running"),
    });
    await world.ingest.drain();
    expect(await send("a")).toMatchObject({ ...started, run: { state: "succeeded" } });
    expect(world.ingest.state.runs()).toHaveLength(1);
  });

  it.each(["", "two words", "é", "x".repeat(129)])("refuses %j as a key", async (key) => {
    expect(await send(key)).toMatchObject({ status: 400, code: "invalid_idempotency_key" });
  });
});
