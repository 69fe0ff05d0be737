/** An alert of a running service, from the cron trigger over real sockets to the end of its story in D1. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { WATCH_CRON } from "../../src/coordinator/schedule.ts";
import { type SmallUpstream, startSmallUpstream } from "../builders/small-upstream.ts";
import { status, WEBHOOK_SECRET, WebhookReceiver } from "../builders/webhook-receiver.ts";
import { TestService } from "./test-service.ts";

/** The fields of `GET /admin/alerts/runs` that are used here. */
interface Run {
  readonly trigger: string;
  readonly ping: string;
  readonly results: readonly { readonly rule: string; readonly state: string }[];
  readonly deliveries: readonly object[];
}

let ops: WebhookReceiver;
let chat: WebhookReceiver;
let switchboard: WebhookReceiver;
let upstream: SmallUpstream;
let service: TestService;

beforeAll(async () => {
  [ops, chat, switchboard, upstream] = await Promise.all([
    WebhookReceiver.start(),
    WebhookReceiver.start(),
    WebhookReceiver.start(),
    startSmallUpstream(),
  ]);
  service = await TestService.start({
    build: inject("build"),
    locales: "en",
    vars: {
      ...upstream.vars,
      ALERT_WEBHOOKS: JSON.stringify([
        { name: "ops", kind: "webhook", url: ops.url, secret: WEBHOOK_SECRET },
        { name: "chat", kind: "slack", url: chat.url },
      ]),
      ALERT_PING_URL: switchboard.url,
    },
  });
});

afterAll(async () => {
  await Promise.all([service.stop(), upstream.stop()]);
  await Promise.all([ops.goAway(), chat.goAway(), switchboard.goAway()]);
});

const stateIn = ({ results }: Run) =>
  results.find(({ rule }) => rule === "catalog_stale")?.state ?? "inactive";

it("reaches both webhooks when it fires and when it ends, and D1 has receipts of both", async () => {
  chat.answers = [status(500), status(500), status(200)];
  const tick = `/cdn-cgi/local/scheduled?cron=${encodeURIComponent(WATCH_CRON)}`;
  expect((await fetch(service.url + tick)).ok).toBe(true);
  const labels = expect.objectContaining({ alertname: "catalog_stale", severity: "fail" });
  expect(ops.bodies).toMatchObject([
    { status: "firing", alerts: expect.arrayContaining([expect.objectContaining({ labels })]) },
  ]);
  const evaluate = async () =>
    stateIn((await service.admin<{ run: Run }>("POST", "/admin/alerts/run")).run);
  expect(await service.ingest()).toMatchObject({ state: "succeeded" });
  await expect.poll(evaluate).toBe("resolved");
  expect(JSON.stringify(ops.bodies.at(-1))).toContain("catalog_stale");
  expect(chat.bodies.at(-1)).toMatchObject({
    attachments: expect.arrayContaining([
      expect.objectContaining({ title: "RESOLVED catalog_stale" }),
    ]),
  });

  const { runs } = await service.admin<{ runs: readonly Run[] }>("GET", "/admin/alerts/runs");
  const [first] = runs.toReversed();
  expect(first).toMatchObject({
    trigger: "cron",
    ping: "sent",
    deliveries: [{ status: 200 }, { status: 200, attempts: 3 }],
  });
  expect(runs.map(stateIn)).toEqual(expect.arrayContaining(["firing", "resolved"]));
  expect(switchboard.received).toHaveLength(runs.length);

  const log = readFileSync(service.logFile, "utf8");
  expect(log).toContain('"event":"alert_notification"');
  for (const hidden of [WEBHOOK_SECRET, ops.url, chat.url, switchboard.url, service.token])
    expect(log).not.toContain(hidden);
});
