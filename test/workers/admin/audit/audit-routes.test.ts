import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { OPERATOR_TOKEN, READER_TOKEN } from "../../../builders/admin-tokens.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { checkedFetch } from "../../checked-fetch.ts";

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
});

interface Page {
  readonly entries: readonly { readonly id: string; readonly action: string }[];
  readonly next_cursor: string | null;
  readonly total: number;
}

/** A call of the Worker itself. */
function call(method: string, path: string, body?: object): Promise<Response> {
  return checkedFetch(path, {
    method,
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function audit(query = ""): Promise<Page> {
  const answer = await call("GET", `/admin/audit${query}`);
  expect(answer.status).toBe(200);
  return answer.json();
}

describe("GET /admin/audit", () => {
  it("shows what was changed and what was refused, the newest first", async () => {
    await world.post("/admin/ingest/pause", { reason: "bad source" });
    await world.post("/admin/ingest/resume", {}, { authorization: `Bearer ${READER_TOKEN}` });
    const answer = await world.request("/admin/audit");
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      entries: [
        { actor: "viewer", action: "ingest.resume", outcome: "refused", status: 403 },
        { actor: "ops", action: "ingest.pause", outcome: "done", status: 200 },
      ],
      next_cursor: null,
      total: 2,
    });
  });

  it("is 503 while D1 does not answer", async () => {
    world.history.isDown = true;
    const answer = await world.request("/admin/audit");
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: "history_unavailable" });
  });

  it.each([
    ["?who=me", 'unknown parameter "who"'],
    ["?outcome=ok", "outcome"],
    ["?limit=1000", "limit"],
    ["?since=now", "since"],
    ["?actor=a&actor=b", '"actor" is given twice'],
  ])("refuses %s", async (query, named) => {
    const answer = await world.request(`/admin/audit${query}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ detail: expect.stringContaining(named) });
  });
});

describe("the Worker's audit", () => {
  it("has every change by the time it is answered, and pages through them", async () => {
    const { total: before } = await audit();
    await call("POST", "/admin/ingest/pause", { reason: "one" });
    await call("POST", "/admin/ingest/pause", { nonsense: 1 });
    await call("POST", "/admin/ingest/resume");
    const first = await audit("?limit=2");
    expect(first.total).toBe(before + 3);
    expect(first.entries).toMatchObject([
      { action: "ingest.resume", before: { paused: true }, after: { paused: false } },
      { action: "ingest.pause", outcome: "refused", code: "invalid_body" },
    ]);
    const second = await audit(`?limit=2&cursor=${first.next_cursor}`);
    expect(second.entries[0]).toMatchObject({
      action: "ingest.pause",
      outcome: "done",
      request: { reason: "one" },
    });
    expect(await audit("?outcome=refused&limit=1")).toMatchObject({
      entries: [{ code: "invalid_body" }],
    });
    expect((await audit("?actor=nobody")).entries).toEqual([]);
    expect((await audit("?until=2020-01-01T00:00:00Z")).total).toBe(0);
    expect((await audit("?since=2020-01-01T00:00:00Z")).total).toBe(before + 3);
  });

  it("refuses a cursor that it has not given", async () => {
    expect((await call("GET", "/admin/audit?cursor=abc")).status).toBe(400);
  });

  it("gets what was changed while D1 was down, once D1 is back", async () => {
    const prepare = vi.spyOn(env.HISTORY, "prepare").mockImplementation(() => {
      throw new Error("D1_ERROR: out of service");
    });
    const answer = await call("POST", "/admin/ingest/pause", { reason: "while D1 is down" });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ paused: true });
    expect((await call("GET", "/admin/audit")).status).toBe(503);
    prepare.mockRestore();
    await expect
      .poll(async () => (await audit("?limit=1")).entries, { interval: 500 })
      .toMatchObject([{ action: "ingest.pause", request: { reason: "while D1 is down" } }]);
    await call("POST", "/admin/ingest/resume");
  });
});
