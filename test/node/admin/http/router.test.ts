import { beforeEach, describe, expect, it, vi } from "vitest";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { aRunRecord } from "../../../builders/run.ts";

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
});

const { id } = aRunRecord().job;

describe("a HEAD request", () => {
  it("gets the answer of GET without the body", async () => {
    const answer = await world.request("/admin/ingest/runs", { method: "HEAD" });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe("");
  });
});

describe("a request whose client disconnects", () => {
  it.each([
    ["POST", "/admin/ingest/pause"],
    ["DELETE", `/admin/backup/${id}`],
  ])("continues until the audit has its change: %s", async (method, path) => {
    void world.request(path, { method });
    await vi.waitFor(() => expect(world.awaited).toHaveLength(1));
    await world.awaited[0];
    expect(world.audited).toHaveLength(1);
  });

  it.each(["GET", "HEAD"])("ends if it changes nothing: %s", async (method) => {
    await world.request("/admin/ingest/runs", { method });
    expect(world.awaited).toEqual([]);
  });
});

describe("a route that changes something", () => {
  it("waits ten seconds for the body and then answers 408", async () => {
    vi.useFakeTimers();
    try {
      const init = { method: "POST", body: new ReadableStream(), duplex: "half" };
      const answered = world.request("/admin/ingest/pause", init);
      await vi.advanceTimersByTimeAsync(9_000);
      expect(await Promise.race([answered, Promise.resolve("not yet")])).toBe("not yet");
      await vi.advanceTimersByTimeAsync(1_000);
      const answer = await answered;
      expect(answer.status).toBe(408);
      expect(await answer.json()).toMatchObject({ code: "body_late", title: "Request Timeout" });
    } finally {
      vi.useRealTimers();
    }
  });

  it("audits the action and its actor, with the state before and after", async () => {
    const answer = await world.post("/admin/ingest/pause", { note: "bad source" });
    expect(answer.status).toBe(200);
    const at = new Date(world.ingest.time).toISOString();
    expect(world.audited).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
        at,
        actor: "ops",
        action: "ingest.pause",
        target: null,
        outcome: "done",
        status: 200,
        code: null,
        detail: null,
        request: { note: "bad source", cancel_running: false },
        before: { paused: false, paused_at: null, paused_by: null, note: null, until: null },
        after: { paused: true, paused_at: at, paused_by: "ops", note: "bad source", until: null },
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    ]);
  });
});

describe("a route that only reads", () => {
  it("leaves no entry in the audit", async () => {
    await world.request("/admin/ingest/runs");
    await world.request("/admin/catalog/versions");
    expect(world.audited).toEqual([]);
  });
});

describe("a token that is sent in the wrong place", () => {
  it("does not appear in the log", async () => {
    const secret = "s3cr3t-t0ken-9f2c";
    const lines = vi.spyOn(console, "log").mockImplementation(() => {});
    try {
      const wrong = { authorization: `Bearer ${secret}` };
      await world.request("/admin/ingest/runs", { headers: wrong });
      await world.request("/admin/ingest/runs", { headers: { authorization: `Basic ${secret}` } });
      await world.request("/admin/ingest/runs", { headers: { authorization: secret } });
      await world.request(`/admin/ingest/runs?token=${secret}`);
      await world.request(`/admin/ingest/runs?cursor=${secret}`);
      await world.request(`/admin/ingest/runs/${secret}`);
      await world.request(`/admin/${secret}`);
      await world.request(`/${secret}`);
      await world.post(`/admin/ingest/runs/${secret}/cancel`);
      await world.post("/admin/ingest/pause", { reason: secret });
      await world.post("/admin/ingest/pause", { [secret]: 1 });
      await world.post("/admin/ingest/queue", { note: secret, source: secret });
      await world.post("/admin/ingest/queue", secret);
      await world.post("/admin/ingest/resume", {}, { "x-token": secret, cookie: `t=${secret}` });
      await world.request(`/catalog/diff?from=${secret}`);
      await world.post("/admin/backup/run", { note: secret });
      await world.send("/admin/ingest/runs", { headers: { "cf-access-jwt-assertion": secret } });
      world.breakCalls("coordinator");
      await world.post("/admin/ingest/pause", { reason: secret });
      expect(lines.mock.calls.length).toBeGreaterThan(10);
      expect(JSON.stringify(lines.mock.calls)).not.toContain(secret);
    } finally {
      lines.mockRestore();
    }
  });
});
