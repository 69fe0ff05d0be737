import { beforeEach, describe, expect, it, vi } from "vitest";
import { READER_TOKEN } from "../../builders/admin-tokens.ts";
import { AdminWorld } from "../../builders/admin-world.ts";
import { aRunRecord } from "../../builders/run.ts";

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
});

const { id } = aRunRecord().run;

describe("another method than a path takes", () => {
  it.each([
    ["DELETE", "/admin/ingest/pause", "POST"],
    ["GET", "/admin/ingest/pause", "POST"],
    ["GET", `/admin/ingest/runs/${id}/cancel`, "POST"],
    ["POST", "/admin/ingest/runs", "GET, HEAD"],
    ["PUT", `/admin/ingest/runs/${id}`, "GET, HEAD"],
    ["PATCH", "/admin/catalog/versions", "GET, HEAD"],
    ["OPTIONS", "/admin/audit", "GET, HEAD"],
    ["POST", "/admin/monitor/status", "GET, HEAD"],
    ["GET", "/admin/catalog/rollback", "POST"],
    ["POST", "/admin/openapi.json", "GET, HEAD"],
    ["POST", "/catalog/diff", "GET, HEAD"],
    ["POST", "/dashboard/summary", "GET, HEAD"],
  ])("%s %s is 405, and Allow says %s", async (method, path, allow) => {
    const answer = await world.request(path, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe(allow);
    expect(await answer.json()).toMatchObject({ code: "method_not_allowed" });
  });
});

describe("HEAD", () => {
  it("is answered as GET is, without the body", async () => {
    const answer = await world.request("/admin/ingest/runs", { method: "HEAD" });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe("");
  });
});

describe("a path that there is not", () => {
  it.each(["/admin/ingest", "/admin/ingest/pause/", "/admin/ingest/queue/x", "/admin//ingest"])(
    "%s is 404",
    async (path) => {
      const answer = await world.request(path);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: "not_found" });
    },
  );
});

describe("every route that changes something", () => {
  const routes = [
    ["/admin/ingest/pause", "ingest.pause"],
    ["/admin/ingest/resume", "ingest.resume"],
    ["/admin/ingest/queue", "ingest.queue"],
    [`/admin/ingest/runs/${id}/cancel`, "ingest.cancel"],
    ["/admin/catalog/rollback", "catalog.rollback"],
  ] as const;

  it("wants the scope operate, whoever adds it, and is in the audit if that is lacking", async () => {
    const { paths } = await world.document();
    const posts = Object.entries(paths ?? {}).filter(([, item]) => item.post !== undefined);
    expect(posts.length).toBeGreaterThanOrEqual(routes.length);
    const headers = { authorization: `Bearer ${READER_TOKEN}` };
    for (const [path] of posts) {
      world.audited.length = 0;
      const answer = await world.post(path.replaceAll(/\{\w+\}/g, id), {}, headers);
      expect([path, answer.status]).toEqual([path, 403]);
      expect(world.audited).toMatchObject([{ actor: "viewer", outcome: "refused" }]);
    }
  });

  it.each(routes)(
    "%s wants the scope operate, and the audit shows who lacked it",
    async (...of) => {
      const [path, action] = of;
      const answer = await world.post(path, {}, { authorization: `Bearer ${READER_TOKEN}` });
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ code: "scope_missing" });
      expect(world.audited).toMatchObject([
        { actor: "viewer", action, outcome: "refused", status: 403, code: "scope_missing" },
      ]);
    },
  );

  it.each(routes)("%s shows a refused body in the audit", async (path, action) => {
    const answer = await world.post(path, { nonsense: 1 });
    expect(answer.status).toBe(400);
    expect(world.audited).toMatchObject([
      {
        actor: "ops",
        action,
        outcome: "refused",
        code: "invalid_body",
        detail: expect.stringContaining('unknown field "nonsense"'),
        request: null,
      },
    ]);
  });

  it.each(routes)("%s refuses a body of over 16 KiB", async (path) => {
    expect((await world.post(path, " ".repeat(16_385))).status).toBe(413);
  });

  it.each(routes)("%s refuses `__proto__`", async (path) => {
    const answer = await world.post(path, '{"__proto__":{"reason":"x"}}');
    expect(await answer.json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining('unknown field "__proto__"'),
    });
  });

  it.each(routes)("%s is not in the audit for strangers", async (path) => {
    const answer = await world.post(path, {}, { authorization: "Bearer wrong" });
    expect(answer.status).toBe(401);
    expect(world.audited).toEqual([]);
  });

  it("shows what was done, by whom, and what was so before and after", async () => {
    const answer = await world.post("/admin/ingest/pause", { reason: "bad source" });
    expect(answer.status).toBe(200);
    expect(world.audited).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
        at: "2026-11-01T05:00:00.000Z",
        actor: "ops",
        action: "ingest.pause",
        target: null,
        outcome: "done",
        status: 200,
        code: null,
        detail: null,
        request: { reason: "bad source", cancel_running: false },
        before: { paused: false },
        after: {
          paused: true,
          at: "2026-11-01T05:00:00.000Z",
          by: "ops",
          reason: "bad source",
          until: null,
        },
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    ]);
  });
});

describe("routes that only read", () => {
  it("are not in the audit", async () => {
    await world.request("/admin/ingest/runs");
    await world.request("/admin/catalog/versions");
    expect(world.audited).toEqual([]);
  });
});

describe("a token that is sent in every place", () => {
  it("is found in no log line", async () => {
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
      world.isReachable = false;
      await world.post("/admin/ingest/pause", { reason: secret });
      expect(lines.mock.calls.length).toBeGreaterThan(10);
      expect(JSON.stringify(lines.mock.calls)).not.toContain(secret);
    } finally {
      lines.mockRestore();
    }
  });
});
