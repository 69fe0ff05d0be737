/** A whole day of an operator over a real socket. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { newAdminToken, type TokenEntry } from "../../scripts/new-admin-token.ts";
import { checkAnswer, closed, type OpenApi } from "../builders/openapi-check.ts";
import { type SmallUpstream, startSmallUpstream } from "../builders/small-upstream.ts";
import { TestService } from "./test-service.ts";

const POLL_MS = 250;

const operator = aToken("ann", "read,operate");
const viewer = aToken("bob", "read");
let upstream: SmallUpstream | undefined;
let running: TestService | undefined;
let document: OpenApi | undefined;

/** A token as `npm run token` makes it. */
function aToken(id: string, scopes: string): { readonly text: string; readonly entry: TokenEntry } {
  const made = newAdminToken({ id, scopes, expires: "2099-12-31" }, Date.now());
  if (!made.ok) throw new Error(made.problem);
  return made;
}

beforeAll(async () => {
  upstream = await startSmallUpstream();
  running = await TestService.start({ build: inject("build"), locales: "en", vars: upstream.vars });
  const { state } = await running.ingest();
  if (state !== "succeeded") throw new Error(`the first run ${state}`);
  await running.restart({
    LOCALES: "de,en",
    ADMIN_TOKENS: JSON.stringify([operator.entry, viewer.entry]),
  });
});

afterAll(async () => {
  await running?.stop();
  await upstream?.stop();
});

/** The service under test. */
function service(): TestService {
  if (running === undefined) throw new Error("the service has not been started");
  return running;
}

/** A client of the routes, whose answers are checked against the OpenAPI document. */
function clientOf(token: string) {
  return async (method: "GET" | "POST", path: string, body?: object) => {
    const answer = await fetch(`${service().url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (document !== undefined) await checkAnswer(document, { method, path }, answer);
    const text = await answer.text();
    return { status: answer.status, text, json: JSON.parse(text) as Json };
  };
}

const JSON_TYPE = { "content-type": "application/json" };

/** The answer of any route. */
interface Json {
  readonly [name: string]: unknown;
}

describe("the admin routes over a real socket", () => {
  it("take an operator from the first look at the status to the audit of the whole day", async () => {
    const call = clientOf(operator.text);
    const get = async (path: string) => (await call("GET", path)).json;

    const described = await call("GET", "/openapi.json");
    expect(described.status).toBe(200);
    const { valid, errors } = await new Validator().validate(described.json);
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    document = closed(JSON.parse(described.text) as OpenApi); // as it was just validated

    // Nothing has evaluated the rules yet, and no webhook is configured.
    const never = expect.stringContaining("monitor:evaluation: the rules have never been");
    expect(await get("/admin/monitor/status")).toMatchObject({ status: "fail", output: never });
    expect((await call("POST", "/admin/alerts/run", {})).status).toBe(200);
    const output = expect.stringContaining("nobody is notified");
    expect(await get("/admin/monitor/status")).toMatchObject({ status: "warn", output });
    expect(await get("/catalog/health")).toMatchObject({ generation: 1 });

    const paused = await call("POST", "/admin/ingest/pause", { note: "looking at the source" });
    expect(paused.json).toMatchObject({ paused: true, changed: true, paused_by: "ann" });
    expect(await get("/admin/monitor/status")).toMatchObject({ status: "warn" });

    const queued = await call("POST", "/admin/ingest/queue", { note: "with German" });
    expect(queued).toMatchObject({
      status: 202,
      json: {
        changed: true,
        will_start: "on_resume",
        run: { state: "queued" },
      },
    });
    const { id } = queued.json["run"] as { readonly id: string }; // checked
    const again = await call("POST", "/admin/ingest/queue", {});
    expect(again.json).toMatchObject({ changed: false, run: { id } });

    expect(await get("/admin/ingest/runs?state=queued")).toMatchObject({
      paused: true,
      total: 1,
      runs: [{ id }],
    });
    expect(await get("/dashboard/summary")).toMatchObject({
      degraded: [],
      catalog: { generation: 1 },
      ingest: { paused: true, queued: 1 },
    });

    const resumed = await call("POST", "/admin/ingest/resume", {});
    expect(resumed.json).toMatchObject({ paused: false, changed: true });

    let seen: unknown;
    do {
      await sleep(POLL_MS);
      seen = (await get(`/admin/ingest/runs/${id}`))["state"];
    } while (seen === "queued" || seen === "running");
    expect(seen).toBe("succeeded");
    expect(await get("/admin/ingest/runs?limit=1")).toMatchObject({
      paused: false,
      runs: [{ id, outcome: "published", requested_by: "ann", note: "with German" }],
    });

    expect(await get("/admin/catalog/versions")).toMatchObject({
      versions: [
        { generation: 2, is_current: true, locales: ["de", "en"] },
        { generation: 1, locales: ["en"] },
      ],
    });
    await expect
      .poll(() => get("/catalog/diff?from=1&locale=en"))
      .toMatchObject({
        from: { generation: 1 },
        to: { generation: 2 },
        airports: { counts: { added: 0, removed: 0 } },
      });

    const back = await call("POST", "/admin/catalog/rollback", { generation: 1 });
    expect(back.json).toMatchObject({ version: { generation: 3, locales: ["en"] } });
    await expect
      .poll(() => get("/catalog/health"))
      .toMatchObject({ status: "pass", generation: 3 });

    expect(await get("/admin/audit")).toMatchObject({
      entries: [
        { action: "catalog.rollback", target: "1", after: { generation: 3 } },
        { action: "ingest.resume", before: { paused: true }, after: { paused: false } },
        { action: "ingest.queue", target: id, after: { changed: false } },
        { action: "ingest.queue", target: id, actor: "ann", outcome: "done" },
        { action: "ingest.pause", request: { note: "looking at the source" } },
        { action: "alerts.run" },
        // The first service was started by an ingest.
        { action: "ingest.queue" },
      ],
    });
  });

  it("audit what a token that may only read has tried", async () => {
    const call = clientOf(viewer.text);
    expect((await call("POST", "/admin/ingest/pause", {})).status).toBe(403);
    expect((await call("GET", "/admin/audit?actor=bob")).json).toMatchObject({
      entries: [{ action: "ingest.pause", outcome: "refused", code: "scope_missing" }],
    });
  });

  it("log no token, wherever it was sent", async () => {
    const { url, logFile } = service();
    const { text: token } = operator;
    const call = (path: string, init: RequestInit = {}) =>
      fetch(`${url}${path}`, {
        ...init,
        headers: new Headers([["authorization", `Bearer ${token}`], ...new Headers(init.headers)]),
      });
    const statuses = [
      await call("/admin/ingest/runs"),
      await call("/admin/ingest/runs", { headers: { authorization: `Basic ${token}` } }),
      await call("/admin/ingest/runs", { headers: { authorization: token } }),
      await call("/admin/ingest/runs", { headers: { cookie: token, "x-token": token } }),
      await call("/admin/ingest/pause", { method: "POST", headers: JSON_TYPE, body: token }),
      await call("/admin/ingest/pause", {
        method: "POST",
        headers: JSON_TYPE,
        body: `{"${token}":1}`,
      }),
      await call("/admin/ingest/pause", {
        method: "POST",
        headers: JSON_TYPE,
        body: `{"until":"${token}"}`,
      }),
    ].map((answer) => answer.status);
    expect(statuses).toEqual([200, 401, 401, 200, 400, 400, 400]);
    const ownLines = () =>
      readFileSync(logFile, "utf8")
        .split("\n")
        .filter((line) => line.startsWith("{"));
    await expect
      .poll(() => ownLines().filter((line) => line.includes('"admin_unauthenticated"')))
      .toHaveLength(2);
    expect(readFileSync(logFile, "utf8")).not.toContain(token);

    // In a URL, where the tools of this machine write it down but the service does not.
    for (const path of [`/admin/ingest/runs?t=${token}`, `/admin/${token}`, `/${token}`])
      expect((await call(path)).status).toBeGreaterThanOrEqual(400);
    expect(ownLines().join("\n")).not.toContain(token);
  });
});
