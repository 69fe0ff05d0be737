import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { admin } from "../../checked-fetch.ts";

interface Page {
  readonly entries: readonly { readonly id: string; readonly action: string }[];
  readonly next_cursor: string | null;
  readonly total: number;
}

async function audit(query = ""): Promise<Page> {
  const answer = await admin("GET", `/admin/audit${query}`);
  expect(answer.status).toBe(200);
  return answer.json();
}

describe("GET /admin/audit", () => {
  it("lists every change by the time it is answered, in pages", async () => {
    const { total: before } = await audit();
    await admin("POST", "/admin/ingest/pause", { note: "one" });
    await admin("POST", "/admin/ingest/pause", { nonsense: 1 });
    await admin("POST", "/admin/ingest/resume");
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
      request: { note: "one" },
    });
    expect(await audit("?outcome=refused&limit=1&since=2020-01-01T00:00:00Z")).toMatchObject({
      entries: [{ code: "invalid_body" }],
    });
    expect((await audit("?actor=nobody")).entries).toEqual([]);
    expect((await audit("?until=2020-01-01T00:00:00Z")).total).toBe(0);
  });

  it("lists the changes made while D1 was down once D1 is back", async () => {
    const prepare = vi.spyOn(env.HISTORY, "prepare").mockImplementation(() => {
      throw new Error("D1_ERROR: out of service");
    });
    const answer = await admin("POST", "/admin/ingest/pause", { note: "while D1 is down" });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ paused: true });
    const unread = await admin("GET", "/admin/audit");
    expect(unread.status).toBe(503);
    expect(await unread.json()).toMatchObject({ code: "history_unavailable" });
    prepare.mockRestore();
    await expect
      .poll(async () => (await audit("?limit=1")).entries, { interval: 500 })
      .toMatchObject([{ action: "ingest.pause", request: { note: "while D1 is down" } }]);
    await admin("POST", "/admin/ingest/resume");
  });
});
