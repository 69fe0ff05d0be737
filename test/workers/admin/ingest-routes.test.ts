import { exports } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { OPERATOR_TOKEN } from "../../builders/admin-tokens.ts";
import { AdminWorld } from "../../builders/admin-world.ts";
import { aRunRecord } from "../../builders/run.ts";

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
});

const queue = (body?: string) =>
  world.request("/admin/ingest/queue", { method: "POST", ...(body !== undefined && { body }) });

describe("POST /admin/ingest/queue", () => {
  it("answers 202 with the run and where to follow it", async () => {
    const answer = await queue('{"mode":"full","note":"new blobs"}');
    expect(answer.status).toBe(202);
    const id = aRunRecord().run.id;
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
    expect(world.enqueued).toEqual([
      {
        trigger: "manual",
        mode: "full",
        source: null,
        forced: false,
        requestedBy: "ops",
        note: "new blobs",
        ifPaused: "queue",
      },
    ]);
  });

  it("passes on source, force and what to do while paused", async () => {
    const body = '{"source":"dropped","mode":"dry_run","force":true,"if_paused":"reject"}';
    expect((await queue(body)).status).toBe(202);
    expect(world.enqueued).toMatchObject([
      { source: "dropped", mode: "dry_run", forced: true, ifPaused: "reject" },
    ]);
  });

  it("answers 409 while paused, to those who asked not to wait", async () => {
    const pause = { at: "2026-11-01T04:00:00.000Z", by: "ops", reason: null, until: null };
    world.refusal = { ok: false, reason: "paused", pause };
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
    expect(world.enqueued).toEqual([
      {
        trigger: "manual",
        mode: "incremental",
        source: null,
        forced: false,
        requestedBy: "ops",
        note: null,
        ifPaused: "queue",
      },
    ]);
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
    ['{"requestedBy":"root"}', "requestedBy"],
    ['{"mode":"FULL"}', "mode"],
    ['{"mode":null}', "mode"],
    ['{"note":1}', "note"],
    [JSON.stringify({ note: "x".repeat(501) }), "note"],
    ['{"__proto__":{"mode":"full"}}', "__proto__"],
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

describe("GET /admin/ingest/runs/{id}", () => {
  it("answers with the run, in snake_case, and the names in it as they are", async () => {
    const upstream = { "airports.csv.gz": { sha256: "0".repeat(64), bytes: 7, etag: '"a"' } };
    const { run } = aRunRecord({ upstream, attempt: 2, rejectsTotal: 3 });
    world.runs.set(run.id, run);
    const answer = await world.request(`/admin/ingest/runs/${run.id}`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      id: run.id,
      queued_at: run.queuedAt,
      catalog_sha256: null,
      upstream,
      attempt: 2,
      rejects_total: 3,
      parent_run_id: null,
    });
  });

  it.each(["01a1fc3f-b811-706c-8d6d-9e5359a10797", "1", "..%2F..%2Fetc", "%00", "null"])(
    "answers 404 for %s",
    async (id) => {
      const answer = await world.request(`/admin/ingest/runs/${id}`);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: "run_not_found" });
    },
  );
});

describe("an error that nobody expected", () => {
  it("is answered 500 without its cause", async () => {
    world.runs.get = () => {
      throw new Error("secret detail");
    };
    const answer = await world.request(`/admin/ingest/runs/${aRunRecord().run.id}`);
    expect(answer.status).toBe(500);
    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({ code: "internal", detail: "Internal error." });
    expect(text).not.toContain("secret detail");
  });
});

describe("the Worker itself", () => {
  it("queues a run that can be followed at its Location", async () => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const call = (path: string, method: string) =>
      exports.default.fetch(`https://locations.test${path}`, { method, headers });
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
