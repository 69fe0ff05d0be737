/** Alerts of a running service in Alertmanager, and what that sends on. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { PackagedServer, type Prepare } from "../builders/packaged-server.ts";
import { type SmallUpstream, startSmallUpstream } from "../builders/small-upstream.ts";
import { WebhookReceiver } from "../builders/webhook-receiver.ts";
import { freePort } from "../system/running-service.ts";
import { TestService } from "../system/test-service.ts";

const TEN_MINUTES_MS = 600_000;
/** It notifies a second after an alert has started or changed. */
const GROUP_MS = 1_000;

const alertmanager: Prepare = ({ folder, port, origin }) => {
  const settings = join(folder, "alertmanager.yml");
  writeFileSync(
    settings,
    JSON.stringify({
      route: {
        receiver: "ops",
        group_by: ["alertname"],
        group_wait: `${GROUP_MS}ms`,
        group_interval: `${GROUP_MS}ms`,
        repeat_interval: "4h",
      },
      receivers: [{ name: "ops", webhook_configs: [{ url: origin.href }] }],
    }),
  );
  return [
    "prometheus-alertmanager",
    `--config.file=${settings}`,
    `--storage.path=${folder}/storage`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--cluster.listen-address=",
  ];
};

/** An alert as `GET /api/v2/alerts` lists it, as far as it is looked at here. */
interface Listed {
  readonly labels: { readonly alertname: string; readonly severity: string };
  readonly endsAt: string;
  readonly generatorURL: string;
}

let pager: WebhookReceiver;
let upstream: SmallUpstream;
let server: PackagedServer;
let service: TestService;

beforeAll(async () => {
  [pager, upstream] = await Promise.all([WebhookReceiver.start(), startSmallUpstream()]);
  server = await PackagedServer.start(alertmanager, pager.url, await freePort());
  service = await TestService.start({
    build: inject("build"),
    locales: "en",
    vars: {
      ...upstream.vars,
      SERVICE_URL: "https://locations.example.org",
      ALERT_WEBHOOKS: JSON.stringify([
        { name: "ops", kind: "alertmanager", url: `${server.url}/api/v2/alerts` },
      ]),
    },
  });
});

afterAll(async () => {
  await Promise.all([service.stop(), upstream.stop(), server.stop()]);
  await pager.goAway();
});

const evaluate = () => service.admin("POST", "/admin/alerts/run");

async function listed(alertname: string): Promise<readonly Listed[]> {
  const answer = await fetch(`${server.url}/api/v2/alerts`);
  const alerts = (await answer.json()) as readonly Listed[];
  return alerts.filter(({ labels }) => labels.alertname === alertname);
}

/** What Alertmanager has sent on about an alert. */
const paged = (alertname: string) =>
  pager.bodies.flatMap(({ status, groupLabels }) =>
    (groupLabels as Listed["labels"]).alertname === alertname ? [status] : [],
  );

it("has an alert while it is open, also after it has lost all, and sends on one start and one end", async () => {
  await evaluate();
  await expect.poll(() => paged("catalog_stale")).toEqual(["firing"]);

  const { port } = new URL(server.url);
  await server.stop();
  server = await PackagedServer.start(alertmanager, pager.url, Number(port));
  expect(await listed("catalog_stale")).toEqual([]);
  pager.received.length = 0;
  for (let evaluations = 0; evaluations < 3; evaluations++) {
    const before = Date.now();
    await evaluate();
    const [alert, ...others] = await listed("catalog_stale");
    expect(others).toEqual([]);
    expect(alert).toMatchObject({
      labels: { severity: "fail" },
      generatorURL: "https://locations.example.org/dashboard#alerts",
    });
    expect(Date.parse(alert?.endsAt ?? "")).toBeGreaterThan(before + TEN_MINUTES_MS);
    await expect.poll(() => paged("catalog_stale")).toEqual(["firing"]);
    await sleep(2 * GROUP_MS);
  }

  expect(await service.ingest()).toMatchObject({ state: "succeeded" });
  await evaluate();
  expect(await listed("catalog_stale")).toHaveLength(1);
  await evaluate();
  expect(await listed("catalog_stale")).toEqual([]);
  await expect.poll(() => paged("catalog_stale")).toEqual(["firing", "resolved"]);
  await evaluate();
  await sleep(2 * GROUP_MS);
  expect(paged("catalog_stale")).toEqual(["firing", "resolved"]);
});

it("has the test alert for five minutes", async () => {
  await service.admin("POST", "/admin/alerts/test", {});
  const [alert] = await listed("test");
  const openMs = Date.parse(alert?.endsAt ?? "") - Date.now();
  expect(Math.round(openMs / 60_000)).toBe(5);
  await expect.poll(() => paged("test")).toEqual(["firing"]);
});
