import { beforeEach, describe, expect, it, vi } from "vitest";
import { READER_TOKEN } from "../../../builders/admin-tokens.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { OPENAPI } from "../../../builders/openapi-check.ts";
import { aRunRecord } from "../../../builders/run.ts";
import { cutOff } from "../../../builders/source.ts";

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
});

const { id } = aRunRecord().job;

describe("another method than a path takes", () => {
  it.each([
    ["DELETE", "/admin/ingest/pause", "GET, HEAD, POST"],
    ["GET", "/admin/ingest/resume", "POST"],
    ["GET", `/admin/ingest/runs/${id}/cancel`, "POST"],
    ["PUT", `/admin/ingest/runs/${id}`, "GET, HEAD"],
    ["OPTIONS", "/admin/audit", "GET, HEAD"],
    ["POST", "/dashboard/summary", "GET, HEAD"],
  ])("%s %s is 405, and Allow says %s", async (method, path, allow) => {
    const answer = await world.request(path, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe(allow);
    expect(await answer.json()).toMatchObject({ code: "method_not_allowed" });
  });
});

describe("a HEAD request", () => {
  it("is answered as GET without the body", async () => {
    const answer = await world.request("/admin/ingest/runs", { method: "HEAD" });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe("");
  });
});

describe("a request whose client disconnects", () => {
  it.each([
    ["POST", "/admin/ingest/pause"],
    ["DELETE", `/admin/backup/${id}`],
  ])("goes on until the audit has its change: %s", async (method, path) => {
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

/** Every route that changes something, and its action in the audit. */
const ACTIONS: { readonly [route: string]: string } = {
  "POST /admin/ingest/held/approve": "ingest.approve_held",
  "POST /admin/ingest/held/reject": "ingest.reject_held",
  "POST /admin/ingest/held/{id}/approve": "ingest.approve_held",
  "POST /admin/ingest/held/{id}/reject": "ingest.reject_held",
  "POST /admin/ingest/pause": "ingest.pause",
  "POST /admin/ingest/resume": "ingest.resume",
  "POST /admin/ingest/queue": "ingest.queue",
  "POST /admin/ingest/runs/{id}/cancel": "ingest.cancel",
  "POST /admin/catalog/rollback": "catalog.rollback",
  "POST /admin/alerts/run": "alerts.run",
  "POST /admin/alerts/test": "alerts.test",
  "POST /admin/backup/run": "backup.run",
  "POST /admin/backup/{id}/verify": "backup.verify",
  "POST /admin/backup/{id}/restore": "backup.restore",
  "POST /admin/backup/{id}/pin": "backup.pin",
  "POST /admin/backup/{id}/unpin": "backup.unpin",
  "DELETE /admin/backup/{id}": "backup.delete",
};

describe("every route that changes something", () => {
  const routes = Object.entries(ACTIONS).map(([route, action]) => {
    const [method = "", path = ""] = route.split(" ");
    const target = path.includes("/held/") ? "1-0000000000000000" : id;
    return [method, path.replace("{id}", target), action] as const;
  });
  const posts = routes.filter(([method]) => method === "POST");
  const call = (method: string, path: string, token: string) =>
    world.request(path, { method, headers: { authorization: `Bearer ${token}` } });

  it("is one of these", () => {
    const described = Object.entries(OPENAPI.paths ?? {}).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const others = described.filter((route) => !route.startsWith("GET "));
    expect(others.toSorted()).toEqual(Object.keys(ACTIONS).toSorted());
  });

  it.each(routes)(
    "%s %s wants the scope operate, and the audit shows who lacked it",
    async (method, path, action) => {
      const answer = await call(method, path, READER_TOKEN);
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ code: "scope_missing" });
      expect(world.audited).toMatchObject([
        { actor: "viewer", action, outcome: "refused", status: 403, code: "scope_missing" },
      ]);
    },
  );

  it.each(posts)("%s %s shows a refused body in the audit", async (_, path, action) => {
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

  it.each(posts)(
    "%s %s refuses a body that is cut off, and it is no bug",
    async (_, path, action) => {
      const log = vi.spyOn(console, "log").mockImplementation(() => {});
      const init = { method: "POST", body: cutOff(), duplex: "half" };
      const answer = await world.request(path, init);
      const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)));
      log.mockRestore();
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ code: "body_incomplete" });
      expect(world.audited).toMatchObject([
        { action, outcome: "refused", code: "body_incomplete" },
      ]);
      expect(lines).toMatchObject([
        { event: "admin_request", status: 400, error_code: "body_incomplete" },
      ]);
    },
  );

  it("gives up on a body that goes on for ever", async () => {
    vi.useFakeTimers();
    try {
      const [first] = posts;
      const path = first?.[1] ?? "";
      const init = { method: "POST", body: new ReadableStream(), duplex: "half" };
      const answered = world.request(path, init);
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

  it("shows what was done, by whom, and what was so before and after", async () => {
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
