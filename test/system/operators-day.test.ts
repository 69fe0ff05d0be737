/** A whole day of an operator over a real socket, by a client whose types come from the routes. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Validator } from "@seriousme/openapi-schema-validator";
import { hc } from "hono/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LocalWorker } from "../../scripts/local-worker.ts";
import { newAdminToken, type TokenEntry } from "../../scripts/new-admin-token.ts";
import type { AdminApi } from "../../src/admin/client-schema.ts";
import { checkAnswer, type OpenApi } from "../builders/openapi-check.ts";
import { type SmallUpstream, startSmallUpstream } from "../builders/small-upstream.ts";
import { freePort } from "./running-service.ts";

const POLL_MS = 250;

const stateFolder = mkdtempSync(join(tmpdir(), "locations-operator-"));
const operator = aToken("ann", "read,operate");
const viewer = aToken("bob", "read");
let upstream: SmallUpstream | undefined;
let worker: LocalWorker | undefined;
let document: OpenApi | undefined;

/** A token as `npm run token` makes it. */
function aToken(id: string, scopes: string): { readonly text: string; readonly entry: TokenEntry } {
  const made = newAdminToken({ id, scopes, expires: "2099-12-31" }, Date.now());
  if (!made.ok) throw new Error(made.problem);
  return made;
}

/** Starts the service on what the last one has stored. */
async function start(locales: string, { vars }: SmallUpstream): Promise<LocalWorker> {
  return LocalWorker.start({
    port: await freePort(),
    locales,
    stateFolder,
    fresh: false,
    adminTokens: JSON.stringify([operator.entry, viewer.entry]),
    vars,
    say: () => undefined,
    signal: new AbortController().signal,
  });
}

beforeAll(async () => {
  upstream = await startSmallUpstream();
  const first = await start("en", upstream);
  try {
    const options = { localeCount: 1, patienceMs: 600_000 };
    const end = await first.ingest(operator.text, options);
    if (!end.ok) throw new Error(end.problem);
  } finally {
    await first.stop();
  }
  worker = await start("de,en", upstream);
}, 180_000);

afterAll(async () => {
  await worker?.stop();
  await upstream?.stop();
  rmSync(stateFolder, { recursive: true, force: true });
});

/** The service under test. */
function service(): LocalWorker {
  if (worker === undefined) throw new Error("the service has not been started");
  return worker;
}

/** A typed client, whose answers are checked against the OpenAPI document. */
function clientOf(token: string) {
  return hc<AdminApi>(service().url, {
    headers: { authorization: `Bearer ${token}` },
    fetch: async (input: string | URL | Request, init?: RequestInit) => {
      const answer = await fetch(input, init);
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      const request = { method: init?.method ?? "GET", path: `${pathname}${search}` };
      if (document !== undefined) await checkAnswer(document, request, answer);
      return answer;
    },
  });
}

describe("an operator's day", () => {
  it("goes from the first look at the status to the audit of all that was done", async () => {
    const { admin, catalog, dashboard } = clientOf(operator.text);

    const described = await admin["openapi.json"].$get();
    expect(described.status).toBe(200);
    const text = await described.text();
    const { valid, errors } = await new Validator().validate(JSON.parse(text));
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    document = JSON.parse(text) as OpenApi; // as it was just validated

    const status = await admin.monitor.status.$get();
    // A new installation has no backup yet.
    const output = expect.stringContaining("backup");
    expect(await status.json()).toMatchObject({ status: "warn", output });
    expect(await (await catalog.health.$get()).json()).toMatchObject({ version: "1" });

    const paused = await admin.ingest.pause.$post({ json: { reason: "looking at the source" } });
    expect(await paused.json()).toMatchObject({ paused: true, changed: true, paused_by: "ann" });
    expect(await (await admin.monitor.status.$get()).json()).toMatchObject({ status: "warn" });

    const queued = await admin.ingest.queue.$post({ json: { note: "with German" } });
    if (queued.status !== 202) throw new Error(`queued with status ${queued.status}`);
    const { disposition, will_start, run } = await queued.json();
    expect({ disposition, will_start, state: run.state }).toEqual({
      disposition: "queued_while_paused",
      will_start: "on_resume",
      state: "queued",
    });
    const again = await admin.ingest.queue.$post({ json: {} });
    expect(await again.json()).toMatchObject({ disposition: "coalesced", run: { id: run.id } });

    const waiting = await admin.ingest.runs.$get({ query: { state: "queued" } });
    expect(await waiting.json()).toMatchObject({ paused: true, total: 1, runs: [{ id: run.id }] });
    expect(await (await dashboard.summary.$get()).json()).toMatchObject({
      degraded: [],
      catalog: { generation: 1 },
      ingest: { paused: true, queued: 1 },
    });

    const resumed = await admin.ingest.resume.$post({ json: {} });
    expect(await resumed.json()).toMatchObject({ paused: false, changed: true });

    const followed = admin.ingest.runs[":id"];
    let seen: string;
    do {
      await sleep(POLL_MS);
      const answer = await followed.$get({ param: { id: run.id } });
      if (answer.status !== 200) throw new Error(`followed with status ${answer.status}`);
      seen = (await answer.json()).state;
    } while (seen === "queued" || seen === "running");
    expect(seen).toBe("succeeded");
    const history = await admin.ingest.runs.$get({ query: { limit: "1" } });
    expect(await history.json()).toMatchObject({
      paused: false,
      runs: [{ id: run.id, outcome: "published", requested_by: "ann", note: "with German" }],
    });

    const versions = await (await admin.catalog.versions.$get()).json();
    expect(versions).toMatchObject({
      versions: [
        { generation: 2, is_current: true, locales: ["de", "en"] },
        { generation: 1, locales: ["en"] },
      ],
    });
    const diff = await catalog.diff.$get({ query: { from: "1", to: "2" } });
    expect(await diff.json()).toMatchObject({ airports: { counts: { added: 0, removed: 0 } } });

    const back = await admin.catalog.rollback.$post({ json: { generation: 1 } });
    expect(await back.json()).toMatchObject({ version: { generation: 3, locales: ["en"] } });
    await expect
      .poll(async () => (await catalog.health.$get()).json())
      .toMatchObject({ status: "pass", version: "3" });

    const audit = await admin.audit.$get({ query: {} });
    expect(await audit.json()).toMatchObject({
      entries: [
        { action: "catalog.rollback", target: "1", after: { generation: 3 } },
        { action: "ingest.resume", before: { paused: true }, after: { paused: false } },
        { action: "ingest.queue", target: run.id, after: { disposition: "coalesced" } },
        { action: "ingest.queue", target: run.id, actor: "ann", outcome: "done" },
        { action: "ingest.pause", request: { reason: "looking at the source" } },
        // The first service was started by an ingest.
        { action: "ingest.queue" },
      ],
    });
  });

  it("shows what one tried who may only look", async () => {
    const { admin } = clientOf(viewer.text);
    expect((await admin.ingest.pause.$post({ json: {} })).status).toBe(403);
    const audit = await admin.audit.$get({ query: { actor: "bob" } });
    expect(await audit.json()).toMatchObject({
      entries: [{ action: "ingest.pause", outcome: "refused", code: "scope_missing" }],
    });
  });

  it("leaves no token in the log, wherever it was sent", async () => {
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
      await call("/admin/ingest/pause", { method: "POST", body: token }),
      await call("/admin/ingest/pause", { method: "POST", body: `{"${token}":1}` }),
      await call("/admin/ingest/pause", { method: "POST", body: `{"until":"${token}"}` }),
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
