/** What the first screen says while a service of its own loses its stores, and after a restore. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { type SmallUpstream, startSmallUpstream } from "../../builders/small-upstream.ts";
import { WebhookReceiver } from "../../builders/webhook-receiver.ts";
import { CALL } from "../../system/http.ts";
import { TestService } from "../../system/test-service.ts";
import { openPage, takeProblems, useBrowser } from "../browser.ts";
import { confirm, job } from "./dashboard-page.ts";

const LOCALES = ["en", "de"];
const QUESTIONS = {
  served: "Is it served?",
  fresh: "Is it fresh?",
  failed: "What failed, and what do I do?",
  changed: "Who changed what?",
  next: "What happens next?",
};
const VIEWPORT = { width: 1280, height: 800 };
const POLL_MS = 50;
/** Longer than the fifteen minutes within which the rules are to be evaluated. */
const UNWATCHED_MS = 20 * 60_000;

let upstream: SmallUpstream | undefined;
let webhook: WebhookReceiver | undefined;
let running: TestService | undefined;

useBrowser();
beforeAll(async () => {
  upstream = await startSmallUpstream();
  webhook = await WebhookReceiver.start();
  const { vars } = upstream;
  const settings = { ...webhook.settingsFor("ops"), ALERT_DATA_OLD_MS: "315360000000" };
  running = await TestService.start({
    build: inject("build"),
    locales: LOCALES.join(","),
    vars: { ...vars, ...settings },
  });
});
afterAll(async () => {
  await running?.stop();
  await webhook?.goAway();
  await upstream?.stop();
});

it("tells of each loss on the first screen, with the way back, and is green after the restore", async () => {
  await service().ingest();
  await backUp("before the loss");
  await watch();
  const bodies = await ask();
  let page = await openDashboard();
  const healthy = await look(page);
  expect(tonesOf(healthy)).toEqual(ALL_GOOD);
  expect(healthy.served.answer).toBe("Yes");

  await service().loseStores();
  const lost = await look(page);
  expect(lost.served).toMatchObject({ tone: "bad", answer: "No" });
  expect(lost.served.note).toContain("both stores have lost the manifest of version 1");
  expect(lost.served.note).toContain("restore the newest backup");
  expect(lost.served.links).toEqual(["#versions", "#backups"]);
  expect(lost.failed.tone).toBe("bad");
  expect(lost.failed.note).toContain("both stores have lost the manifest of version 1");
  expect(lost.failed.links).toContain("/docs/operating#when-something-is-wrong");

  // The coordinator has the manifest, but not the blobs.
  await watch();
  const withManifest = await look(page);
  expect(withManifest.served).toMatchObject({ tone: "bad", answer: "No" });
  expect(withManifest.served.note).toContain("every copy of a body is damaged or missing");
  expect(withManifest.served.note).toContain("restore the newest backup");
  expect(withManifest.served.links).toEqual(["#versions", "#backups"]);
  expect(withManifest.changed.tone).toBe("good");

  await service().loseTables();
  const withoutD1 = await look(page);
  expect(withoutD1.changed).toMatchObject({ tone: "warn", answer: "Unknown" });
  expect(withoutD1.changed.note).toContain("the audit in D1 cannot be read");
  expect(withoutD1.failed.note).toMatch(/D1 lacks .*a restored backup brings back/);
  expect(withoutD1.fresh.note).not.toContain("the rules were last evaluated");
  await page.close();

  await service().restart({}, forgetEvaluations);
  page = await openDashboard();
  const unwatched = await look(page);
  expect(unwatched.fresh.tone).toBe("bad");
  expect(unwatched.fresh.note).toMatch(/the rules were last evaluated 2\d min .*cron trigger/);
  expect(unwatched.failed.note).toContain("the rules were last evaluated");
  expect(unwatched.served).toMatchObject({ tone: "bad", answer: "No" });
  expect(unwatched.changed.tone).toBe("warn");
  expect((await ask()).map(({ status }) => status)).toEqual(LOCALES.map(() => 500));

  await page.getByRole("link", { name: "Backups" }).click();
  const backups = page.getByRole("table", { name: "Backups" });
  const backup = backups.getByRole("row", { name: "before the loss" });
  await backup.getByRole("button", { name: "Restore" }).click();
  expect(await confirm(page, "Restore")).toContain("The job is queued.");
  await job(page, "restore").getByText("To undo it, restore").waitFor();
  await expect.poll(ask).toEqual(bodies);

  await service().admin("POST", "/admin/ingest/resume");
  await backUp("after the restore");
  // The first one finds that nobody has watched.
  await watch();
  await watch();
  const restored = await look(page);
  expect(tonesOf(restored)).toEqual(ALL_GOOD);
  expect(restored.served.answer).toBe("Yes");
  expect(restored.served.note).toContain("Version 2");
  for (const problem of takeProblems()) expect(problem).toMatch(/\b50[03]\b/);
});

type Question = keyof typeof QUESTIONS;

/** What a card shows. */
interface Card {
  /** The colour: good, warn or bad; quiet if it is old. */
  readonly tone: string | undefined;
  readonly answer: string;
  readonly note: string;
  readonly links: readonly string[];
}

type Screen = { readonly [Q in Question]: Card };

const ALL_GOOD = Object.fromEntries(Object.keys(QUESTIONS).map((question) => [question, "good"]));

function tonesOf(screen: Screen) {
  return Object.fromEntries(Object.entries(screen).map(([question, { tone }]) => [question, tone]));
}

/** Opens a page whose tab has the token already, as after a reload. */
async function openDashboard(): Promise<Page> {
  const { url: baseURL, token } = service();
  const page = await openPage("/docs", { baseURL, viewport: VIEWPORT });
  await page.evaluate(`sessionStorage.setItem('locations.admin-token', '${token}')`);
  return page;
}

/** Loads the dashboard, and reads the first answers that it shows. They are all in sight. */
async function look(page: Page): Promise<Screen> {
  await page.goto("about:blank");
  await page.goto("/dashboard");
  const read = Object.entries(QUESTIONS).map(async ([question, title]) => {
    const card = page.locator(`[data-card="${title}"]`);
    const tone = /tone-(\w+)/.exec((await card.getAttribute("class")) ?? "")?.[1];
    const answer = (await card.locator(".card-value").textContent()) ?? "";
    const note = (await card.locator(".card-note").textContent()) ?? "";
    const links = await card.getByRole("link").all();
    const hrefs = await Promise.all(links.map((link) => link.getAttribute("href")));
    expect((await card.boundingBox())?.y, title).toBeLessThan(VIEWPORT.height);
    return [question, { tone, answer, note, links: hrefs }] as const;
  });
  return Object.fromEntries(await Promise.all(read)) as unknown as Screen; // as QUESTIONS is
}

function service(): TestService {
  if (running === undefined) throw new Error("the service has not started");
  return running;
}

/** Asks for the catalog in each locale, as a client does. */
async function ask() {
  return Promise.all(
    LOCALES.map(async (locale) => {
      const answer = await fetch(`${service().url}${CALL}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ locale }),
      });
      return { status: answer.status, body: await answer.text() };
    }),
  );
}

/** Makes a backup, which must prove good. */
async function backUp(note: string): Promise<void> {
  const made = await service().admin<{ job: { chain: string[] } }>("POST", "/admin/backup/run", {
    note,
  });
  for (const id of made.job.chain) await waitForJob(id);
}

async function waitForJob(id: string): Promise<void> {
  for (;;) {
    const path = `/admin/backup/jobs/${id}`;
    const { state, ...rest } = await service().admin<{ state: string }>("GET", path);
    if (state === "succeeded") return;
    if (state === "failed" || state === "cancelled") throw new Error(JSON.stringify(rest));
    await sleep(POLL_MS);
  }
}

/** Evaluates the rules and reconciles the stores, as the cron trigger does every five minutes. */
async function watch(): Promise<void> {
  const cron = encodeURIComponent("*/5 * * * *");
  const answer = await fetch(`${service().url}/cdn-cgi/local/scheduled?cron=${cron}`);
  if (!answer.ok) throw new Error(`the cron trigger: ${answer.status} ${await answer.text()}`);
}

/** Has the monitor of the stopped service evaluated the rules some time ago. */
function forgetEvaluations(): void {
  const at = Date.now() - UNWATCHED_MS;
  const { stateFolder } = service();
  let found = 0;
  for (const name of readdirSync(stateFolder, { recursive: true }).map(String)) {
    if (!name.endsWith(".sqlite")) continue;
    const database = new DatabaseSync(join(stateFolder, name));
    const tables = database.prepare("SELECT name FROM sqlite_master").all();
    if (tables.some((table) => table["name"] === "deliveries")) {
      const startedAt = new Date(at).toISOString();
      database
        .prepare(
          "UPDATE facts SET value = json_set(value, '$.started_at', ?) WHERE key = 'last_run'",
        )
        .run(startedAt);
      database.prepare("UPDATE ticks SET value = json_array(?) WHERE key = 'watch'").run(at);
      found++;
    }
    database.close();
  }
  expect(found).toBe(1);
}
