import { beforeEach, describe, expect, it } from "vitest";
import { OPERATOR_TOKEN } from "../../../builders/admin-tokens.ts";
import { AdminWorld, type Json } from "../../../builders/admin-world.ts";
import { anEnqueueRequest, aRunRecord } from "../../../builders/run.ts";
import { checkedFetch } from "../../checked-fetch.ts";

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
});

const queue = (body?: unknown) => world.post("/admin/ingest/queue", body);
const pause = (body?: unknown) => world.post("/admin/ingest/pause", body);
const resume = (body?: unknown) => world.post("/admin/ingest/resume", body);

describe("POST /admin/ingest/queue", () => {
  it("answers 202 with the run and where to follow it", async () => {
    const answer = await queue('{"mode":"full","note":"new blobs"}');
    expect(answer.status).toBe(202);
    const id = aRunRecord().job.id;
    expect(answer.headers.get("location")).toBe(`/admin/ingest/runs/${id}`);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await answer.json()).toMatchObject({
      disposition: "queued",
      will_start: "now",
      run: {
        id,
        state: "queued",
        requested_by: "ops",
        finished_at: null,
        generation_after: null,
      },
    });
    expect(world.enqueued).toEqual([anEnqueueRequest({ mode: "full", note: "new blobs" })]);
  });

  it("passes on source, force and what to do while paused", async () => {
    const body = '{"source":"dropped","mode":"dry_run","force":true,"if_paused":"reject"}';
    expect((await queue(body)).status).toBe(202);
    expect(world.enqueued).toMatchObject([
      { source: "dropped", mode: "dry_run", forced: true, ifPaused: "reject" },
    ]);
  });

  it("answers 409 while paused, to those who asked not to wait", async () => {
    const at = "2026-11-01T04:00:00.000Z";
    const present = { at, by: "ops", reason: null, until: null };
    world.refusal = { ok: false, reason: "paused", pause: present };
    const answer = await queue('{"if_paused":"reject"}');
    expect(answer.status).toBe(409);
    expect(answer.headers.get("location")).toBeNull();
    expect(await answer.json()).toMatchObject({ code: "paused" });
  });

  it("answers 429 while the queue is full, and when to try again", async () => {
    world.refusal = { ok: false, reason: "queue_full", queueDepth: 10 };
    const answer = await queue();
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toBe("60");
    expect(await answer.json()).toMatchObject({
      code: "queue_full",
      detail: expect.stringContaining("10 runs wait already"),
    });
  });

  it.each([undefined, "", " \n", "{}"])("takes %j for the defaults", async (body) => {
    expect((await queue(body)).status).toBe(202);
    expect(world.enqueued).toEqual([anEnqueueRequest()]);
  });

  it("answers 200 when the same run waits already", async () => {
    world.disposition = "coalesced";
    const answer = await queue();
    expect(answer.status).toBe(200);
    expect(answer.headers.get("location")).toMatch(/^\/admin\/ingest\/runs\//);
  });

  it.each([
    ['{"mod":"full"}', "mod"],
    ['{"mode":"full","forced":true}', "forced"],
    ['{"force":"yes"}', "force"],
    ['{"source":"elsewhere"}', "source"],
    ['{"if_paused":"wait"}', "if_paused"],
    ['{"requested_by":"root"}', "requested_by"],
    ['{"mode":"FULL"}', "mode"],
    ['{"mode":null}', "mode"],
    ['{"candidate_of":"the last"}', "candidate_of: must be the id of a run"],
    ['{"candidate_of":null}', "candidate_of"],
    ['{"note":1}', "note"],
    [JSON.stringify({ note: "x".repeat(501) }), "note"],
    ['{"__proto__":{"mode":"full"}}', "__proto__"],
    ['{"mode":"full","__proto__":null}', "__proto__"],
    ['{"constructor":{}}', "constructor"],
    ["[]", "object"],
    ['"full"', "object"],
    ["null", "object"],
    ["[".repeat(8000) + "]".repeat(8000), "object"],
  ])("refuses %.40s, and names what is wrong", async (body, named) => {
    const answer = await queue(body);
    expect(answer.status).toBe(400);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(await answer.json()).toMatchObject({
      code: "invalid_body",
      detail: expect.stringContaining(named),
    });
    expect(world.enqueued).toEqual([]);
  });

  it.each(["{", "mode=full", '{"mode":"full"}}', "\u0000", '{"mode":"full",}'])(
    "refuses “%s”, which is not JSON",
    async (body) => {
      const answer = await queue(body);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ code: "malformed_json" });
      expect(world.enqueued).toEqual([]);
    },
  );

  it.each(['{"mode":"full","mode":"dry_run"}', '{"mode":"full","m\\u006fde":"dry_run"}'])(
    "refuses %s, of which one field would be lost",
    async (body) => {
      const answer = await queue(body);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        code: "duplicate_field",
        detail: expect.stringContaining("given twice"),
      });
      expect(world.enqueued).toEqual([]);
    },
  );

  it("takes a note that looks like fields", async () => {
    expect((await queue({ note: '"mode":1,"mode":2 {"a":1,"a":2}' })).status).toBe(202);
  });

  it("refuses a body that is not UTF-8", async () => {
    const body = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
    const answer = await world.request("/admin/ingest/queue", { method: "POST", body });
    expect(await answer.json()).toMatchObject({ status: 400, code: "malformed_json" });
  });

  it("refuses parameters, which it has none of", async () => {
    const answer = await world.post("/admin/ingest/queue?mode=full");
    expect(await answer.json()).toMatchObject({
      status: 400,
      code: "invalid_query",
      detail: 'unknown parameter "mode"',
    });
    expect(world.enqueued).toEqual([]);
  });

  it("takes 16 KiB, and refuses one byte more", async () => {
    const padded = (length: number) => "{}".padEnd(length);
    expect((await queue(padded(16 * 1024))).status).toBe(202);
    const answer = await queue(padded(16 * 1024 + 1));
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ code: "body_too_large" });
  });

  it("counts bytes, not letters", async () => {
    expect((await queue(JSON.stringify({ note: "🛫".repeat(4096) }))).status).toBe(413);
  });

  it("does not read on once a body is too large", async () => {
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(4096));
      },
    });
    const answer = await world.request("/admin/ingest/queue", { method: "POST", body: endless });
    expect(answer.status).toBe(413);
    expect(pulled).toBeLessThan(20);
  });
});

describe("POST /admin/ingest/queue with a candidate", () => {
  const upstream = { "airports.csv": { sha256: "a".repeat(64), bytes: 7 } };
  const { job: refused } = aRunRecord({ state: "failed", source: "dropped", upstream });
  const approve = (more: object = {}) => queue({ candidate_of: refused.id, force: true, ...more });

  it("works from what the run has archived, which the answer and the audit show", async () => {
    world.runs.set(refused.id, refused);
    const answer = await approve();
    expect(answer.status).toBe(202);
    const candidate = { runId: refused.id, upstream };
    expect(world.enqueued).toEqual([
      anEnqueueRequest({ source: "dropped", forced: true, candidate }),
    ]);
    expect(await answer.json()).toMatchObject({
      run: { candidate_of: refused.id, source: "dropped", forced: true },
    });
    expect(world.audited).toMatchObject([
      {
        action: "ingest.queue",
        outcome: "done",
        request: { candidate_of: refused.id, force: true },
        after: { candidate_of: refused.id },
      },
    ]);
  });

  it("takes a run that the coordinator has forgotten, and its source if that is said", async () => {
    world.history.add(refused);
    expect((await approve({ source: "dropped", mode: "full" })).status).toBe(202);
    expect(world.enqueued).toMatchObject([
      { source: "dropped", mode: "full", candidate: { runId: refused.id, upstream } },
    ]);
  });

  it("answers 400 to another source, and says which it was", async () => {
    world.runs.set(refused.id, refused);
    const answer = await approve({ source: "embedded" });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      code: "invalid_body",
      detail: `source: run ${refused.id} is of "dropped"; leave it out, or name the same`,
    });
    expect(world.enqueued).toEqual([]);
  });

  it("answers 404 to a run that there is not, and queues nothing", async () => {
    const answer = await approve();
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: "run_not_found" });
    expect(world.enqueued).toEqual([]);
    expect(world.audited).toMatchObject([{ outcome: "refused", code: "run_not_found" }]);
  });

  it("answers 409 to a run that has fetched nothing, and queues nothing", async () => {
    world.runs.set(refused.id, { ...refused, upstream: {} });
    const answer = await approve();
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ code: "nothing_fetched" });
    expect(world.enqueued).toEqual([]);
  });

  it("answers 409 once what the run has fetched is deleted", async () => {
    world.runs.set(refused.id, refused);
    world.refusal = { ok: false, reason: "candidate_gone" };
    const answer = await approve();
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ code: "candidate_gone" });
  });

  it("answers 503 while nobody knows of the run", async () => {
    world.history.isDown = true;
    const answer = await approve();
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: "history_unavailable" });
    expect(world.enqueued).toEqual([]);
  });
});

describe("POST /admin/ingest/pause", () => {
  it("says since when, by whom, why and until when", async () => {
    const answer = await pause({ reason: "bad source", until: "2026-11-02T06:00:00+01:00" });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      paused: true,
      changed: true,
      paused_at: "2026-11-01T05:00:00.000Z",
      paused_by: "ops",
      reason: "bad source",
      until: "2026-11-02T05:00:00.000Z",
      running_run_id: null,
      queued: 0,
      message: "Ingestion is paused, until 2026-11-02T05:00:00.000Z.",
    });
  });

  it("says the same again when it is sent again, but that nothing changed", async () => {
    const first = await (await pause()).json<Json>();
    const second = await (await pause()).json<Json>();
    expect(second).toEqual({ ...first, changed: false, message: "Ingestion was paused already." });
  });

  it("keeps the end of a pause that is not named, and lifts it where it is null", async () => {
    await pause({ until: "2026-11-02T06:00:00Z" });
    const kept = await (await pause({ reason: "bad source" })).json<Json>();
    expect(kept).toMatchObject({ changed: true, until: "2026-11-02T06:00:00.000Z" });
    const lifted = await (await pause({ until: null })).json<Json>();
    expect(lifted).toMatchObject({
      paused: true,
      changed: true,
      until: null,
      reason: "bad source",
      message: "Ingestion is paused.",
    });
    expect(await (await pause({ until: null })).json()).toMatchObject({ changed: false });
  });

  it("says what becomes of the run under way", async () => {
    world.running = aRunRecord({ state: "running" }).job;
    const kept = await (await pause()).json<Json>();
    expect(kept).toMatchObject({ running_run_id: world.running.id });
    expect(kept["message"]).toContain("goes on after resume");
    const cancelled = await (await pause({ cancel_running: true })).json<Json>();
    expect(cancelled["message"]).toContain("cancelled at its next step");
    const { id } = world.running;
    const [first, second] = world.audited.map(({ after }) => after);
    expect(first).not.toHaveProperty("run_id");
    expect(second).toMatchObject({ paused: true, run_id: id, disposition: "cancelling" });
  });

  it.each([
    ["cancelled", "is cancelled."],
    ["too_late", "has published already, and ends."],
  ] as const)("says so where a run that is to be cancelled is %s", async (cancelling, said) => {
    const { job: run } = aRunRecord({ state: "running" });
    world.running = run;
    world.cancelling = cancelling;
    const answer = await (await pause({ cancel_running: true })).json<Json>();
    expect(answer["message"]).toBe(`Ingestion is paused. Run ${run.id} ${said}`);
    expect(world.audited[0]?.after).toMatchObject({ run_id: run.id, disposition: cancelling });
  });

  it("takes the last moment that an answer can repeat", async () => {
    const answer = await pause({ until: "9999-12-31T23:59:59Z" });
    expect(await answer.json()).toMatchObject({ until: "9999-12-31T23:59:59.000Z" });
  });

  it.each([
    ['{"until":"2026-11-01T05:00:00Z"}', "until: must be in the future"],
    ['{"until":"tomorrow"}', "until: must be a time"],
    ['{"until":"2026-11-02T06:00:00"}', "until: must be a time"],
    ['{"until":"9999-12-31T23:59:59-23:59"}', "until: must be within the years"],
    ['{"reason":1}', "reason"],
    [{ reason: "x".repeat(501) }, "reason"],
    ['{"cancel":true}', 'unknown field "cancel"'],
  ])("refuses %j", async (body, named) => {
    const answer = await pause(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      code: "invalid_body",
      detail: expect.stringContaining(named),
    });
    expect(world.pause).toBeNull();
  });
});

describe("POST /admin/ingest/resume", () => {
  it("lifts a pause, once", async () => {
    await pause();
    const first = await resume({ reason: "mended" });
    expect(first.status).toBe(200);
    expect(await first.json()).toEqual({
      paused: false,
      changed: true,
      paused_at: null,
      paused_by: null,
      reason: null,
      until: null,
      running_run_id: null,
      queued: 0,
      message: "Ingestion goes on.",
    });
    expect(await (await resume()).json()).toMatchObject({
      changed: false,
      message: "Ingestion was not paused.",
    });
  });

  it("queues a run as well, if asked, and says where to follow it", async () => {
    const answer = await resume({ run_now: true });
    expect(answer.headers.get("location")).toBe(`/admin/ingest/runs/${aRunRecord().job.id}`);
    expect(await answer.json()).toMatchObject({
      queued: 1,
      message: "Ingestion was not paused. The run is queued. It starts now.",
    });
    expect(world.enqueued).toMatchObject([{ trigger: "resume", requested_by: "ops" }]);
    expect(world.audited).toMatchObject([
      { after: { paused: false, run_id: aRunRecord().job.id, disposition: "queued" } },
    ]);
  });

  it("tells the truth if that run is refused", async () => {
    await pause();
    world.refusal = { ok: false, reason: "queue_full", queueDepth: 10 };
    const answer = await resume({ run_now: true });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      changed: true,
      message: "Ingestion goes on. No run was queued: queue full.",
    });
    expect(world.audited.at(-1)).toMatchObject({
      outcome: "done",
      after: { paused: false, run_id: null, disposition: "queue_full" },
    });
  });
});

describe("while the coordinator does not answer", () => {
  it.each(["pause", "resume", "queue"])(
    "%s is answered 503, and that nobody knows what came of it",
    async (name) => {
      world.isReachable = false;
      const answer = await world.post(`/admin/ingest/${name}`);
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toBe("5");
      expect(await answer.json()).toMatchObject({ code: "coordinator_unavailable" });
      expect(world.audited).toMatchObject([{ action: `ingest.${name}`, outcome: "failed" }]);
    },
  );
});

describe("the Worker itself", () => {
  it("queues a run that can be followed at its Location", async () => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const call = (path: string, method: string) => checkedFetch(path, { method, headers });
    const answer = await call("/admin/ingest/queue", "POST");
    expect(answer.status).toBe(202);
    const { run } = await answer.json<{ run: { id: string } }>(); // our own API
    const followed = await call(answer.headers.get("location") ?? "", "GET");
    expect(followed.status).toBe(200);
    expect(await followed.json()).toMatchObject({
      id: run.id,
      requested_by: "operator",
      trigger: "manual",
      mode: "incremental",
    });
  });
});
