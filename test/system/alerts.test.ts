/** The alerts of a running service, from the first failure to the end of the story in D1. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type SmallUpstream, startSmallUpstream } from "../builders/small-upstream.ts";
import { status, WEBHOOK_SECRET, WebhookReceiver } from "../builders/webhook-receiver.ts";
import { TestService } from "./test-service.ts";

/** What `GET /admin/alerts/runs` answers, as far as it is looked at here. */
interface Run {
  readonly id: string;
  readonly trigger: string;
  readonly worst: string;
  readonly finished_at: string | null;
  readonly ping: string;
  readonly results: readonly {
    readonly rule: string;
    readonly state: string;
    readonly previous_state: string;
    readonly value: number | null;
    readonly threshold: number;
    readonly evidence: { readonly [name: string]: unknown };
    readonly notified: readonly object[];
  }[];
  readonly deliveries: readonly object[];
}

/** The catalog is stale so long after it was last compared with upstream. */
const STALE_MS = 10_000;
let ops: WebhookReceiver;
let chat: WebhookReceiver;
let switchboard: WebhookReceiver;
let upstream: SmallUpstream | undefined;
let running: TestService | undefined;

beforeAll(async () => {
  [ops, chat, switchboard] = await Promise.all([
    WebhookReceiver.start(),
    WebhookReceiver.start(),
    WebhookReceiver.start(),
  ]);
  upstream = await startSmallUpstream();
  running = await TestService.start({
    build: inject("build"),
    locales: "en",
    vars: {
      ...upstream.vars,
      ALERT_CATALOG_STALE_MS: String(STALE_MS),
      ALERT_WEBHOOKS: JSON.stringify([
        { name: "ops", kind: "alertmanager", url: ops.url, secret: WEBHOOK_SECRET },
        { name: "chat", kind: "slack", url: chat.url },
      ]),
      ALERT_PING_URL: switchboard.url,
    },
  });
  await ingest();
});

afterAll(async () => {
  await running?.stop();
  await upstream?.stop();
  await Promise.all([ops.goAway(), chat.goAway(), switchboard.goAway()]);
});

function service(): TestService {
  if (running === undefined) throw new Error("the service has not started");
  return running;
}

/** Runs an ingest to its end, which must be a success. */
async function ingest(): Promise<void> {
  expect(await service().ingest()).toMatchObject({ state: "succeeded" });
}

/** Fires the cron trigger of the alerts. */
async function fireCron(): Promise<void> {
  const url = `${service().url}/cdn-cgi/local/scheduled?cron=${encodeURIComponent("*/5 * * * *")}`;
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
}

/** The evaluations that are recorded, oldest first. */
async function recorded(query = ""): Promise<readonly Run[]> {
  const { runs } = await service().admin<{ runs: readonly Run[] }>(
    "GET",
    `/admin/alerts/runs${query}`,
  );
  return runs.toReversed();
}

/** What an evaluation says of the catalog's age. */
function staleness(run: Run | undefined) {
  return run?.results.find(({ rule }) => rule === "catalog_stale");
}

describe("a catalog that goes stale", () => {
  it("fires an alert, which an ingest resolves, and both messages arrive", async () => {
    await sleep(STALE_MS);
    chat.answers = [status(500)];
    await fireCron();
    chat.answers = [status(200)];
    await fireCron();
    expect(ops.bodies).toMatchObject([
      { status: "firing", alerts: [{ labels: { alertname: "catalog_stale", severity: "fail" } }] },
    ]);
    expect(chat.bodies.at(-1)).toMatchObject({
      attachments: [{ title: "FIRING catalog_stale" }],
    });

    // A slow machine may need more than these two: the catalog is stale again after a while.
    let seen: ReturnType<typeof staleness>;
    do {
      await ingest();
      const { run } = await service().admin<{ run: Run }>("POST", "/admin/alerts/run");
      seen = staleness(run);
    } while (seen?.state !== "resolved");
    expect(seen.previous_state).toBe("firing");
    expect(ops.bodies).toMatchObject([
      { status: "firing" },
      { status: "resolved", alerts: [{ labels: { alertname: "catalog_stale" } }] },
    ]);
    expect(chat.bodies.at(-1)).toMatchObject({
      attachments: [{ title: "RESOLVED catalog_stale" }],
    });
  });

  it("leaves evidence and receipts in alert_runs, from beginning to end", async () => {
    const story = await recorded("?rule=catalog_stale");
    const triggers = story.map(({ trigger }) => trigger);
    expect(triggers.slice(0, 3)).toEqual(["cron", "cron", "manual"]);
    const [fired, repeated] = story;
    const resolved = story.at(-1);
    expect([fired?.worst, repeated?.worst, resolved?.worst]).toEqual(["fail", "fail", "pass"]);
    expect(staleness(fired)).toMatchObject({
      state: "firing",
      threshold: STALE_MS,
      evidence: { generation: 1, last_success_at: expect.any(String) },
      notified: [
        { target: "ops", change: "fired", delivered: true },
        { target: "chat", change: "fired", delivered: false },
      ],
    });
    expect(fired?.deliveries).toMatchObject([{ status: 200 }, { status: 500, attempts: 3 }]);
    expect(await recorded("?state=resolved&changed=true")).toEqual([resolved]);
    expect(new Set(story.map(({ ping }) => ping))).toEqual(new Set(["sent"]));
    expect(switchboard.received.length).toBe((await recorded()).length);
  });
});

describe("the log on standard output", () => {
  it("has each stage of each evaluation, but no address or secret of a webhook", async () => {
    const lines = readFileSync(service().logFile, "utf8").split("\n");
    const story = await recorded();
    for (const { id } of story) {
      const events = lines
        .filter((line) => line.includes(`"alert_run_id":"${id}"`))
        .map((line) => (JSON.parse(line) as { event: string }).event); // our own log
      expect(events).toEqual(
        expect.arrayContaining(["alerts_started", "alerts_facts_read", "alerts_ended"]),
      );
    }
    const said = lines.filter((line) => line.startsWith("{")).join("\n");
    expect(said).toContain('"event":"alert_notification"');
    for (const hidden of [WEBHOOK_SECRET, ops.url, chat.url, switchboard.url, service().token])
      expect(said).not.toContain(hidden);
  });
});
