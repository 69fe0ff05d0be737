import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { openPage, seriousFaults, takeProblems, useBrowser } from "./browser.ts";

useBrowser();

/** How long an ingest may take: compressing it all anew is slow on a busy machine. */
const PUBLISH_MS = 240_000;

/** Opens the dashboard and signs in. */
async function signIn(hash = "", options: Parameters<typeof openPage>[1] = {}): Promise<Page> {
  const page = await openPage(`/dashboard${hash}`, options);
  await page.getByLabel("Operator’s token").fill(inject("service").adminToken);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Sections" }).waitFor();
  takeProblems(); // That it was signed out is what the browser has noted.
  return page;
}

/** Confirms the dialog, and returns what the service answered. */
async function confirm(page: Page, verb: string): Promise<string> {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: verb, exact: true }).click();
  const answer = (await dialog.locator(".notice").textContent()) ?? "";
  await dialog.getByRole("button", { name: "Close" }).click();
  return answer;
}

/** The run that is newest in the table. */
function firstRun(page: Page) {
  return page.locator("tr[data-run]").first();
}

describe("signing in", () => {
  it("shows the health to everybody, and nothing more without a token", async () => {
    const page = await openPage("/dashboard");
    await page.locator('[data-card="Catalog"]', { hasText: "9,074 airports" }).waitFor();
    await page.locator('[data-card="Ingest"]', { hasText: "published" }).waitFor();
    await page.getByLabel("Operator’s token").waitFor();
    expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);
    expect(takeProblems().every((problem) => problem.includes("401"))).toBe(true);
  });

  it("says that a token is not valid, and takes one that is", async () => {
    const page = await openPage("/dashboard");
    await page.getByLabel("Operator’s token").fill("not-a-token");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Operator’s token").fill(inject("service").adminToken);
    await page.getByRole("button", { name: "Sign in" }).click();
    await firstRun(page).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(takeProblems().every((problem) => problem.includes("401"))).toBe(true);
  });

  it("keeps the token in this tab only, and writes it nowhere", async () => {
    const { adminToken, logFile } = inject("service");
    const page = await signIn();
    const urls: string[] = [];
    page.on("request", (request) => urls.push(request.url()));
    await page.reload();
    await firstRun(page).waitFor();
    expect(urls.join()).not.toContain(adminToken);
    expect(page.url()).not.toContain(adminToken);
    expect(await page.evaluate("JSON.stringify(localStorage) + document.cookie")).toBe("{}");
    expect(readFileSync(logFile, "utf8")).not.toContain(adminToken);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Operator’s token").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    takeProblems();
  });
});

describe("operating ingestion", () => {
  it("queues a run, shows its stages, and then what it counted", async () => {
    const page = await signIn();
    await page.getByRole("button", { name: "Queue a run" }).click();
    await page.getByLabel("Mode").selectOption("dry_run");
    await page.getByLabel("Note").fill("from a test");
    expect(await confirm(page, "Queue")).toMatch(/run/i);
    await firstRun(page).getByText("dry run").last().waitFor();
    await page.locator(".track").waitFor({ state: "detached" });
    await firstRun(page).locator(".pill", { hasText: "dry run" }).waitFor();
    await firstRun(page).getByRole("button", { name: "More" }).click();
    const details = page.locator(".details");
    expect(await details.textContent()).toContain("from a test");
    expect(await details.textContent()).toContain("9,074");
    expect(await details.textContent()).toContain("No upstream row was rejected");
  });

  it("keeps what is shown in its place while it updates itself", async () => {
    const page = await signIn();
    await firstRun(page).waitFor();
    await firstRun(page).getByRole("button", { name: "More" }).click();
    await page.evaluate("document.querySelector('tr[data-run]').marked = true");
    const answered = () => page.waitForResponse(/\/admin\/ingest\/runs/);
    await answered();
    await answered();
    expect(await page.evaluate("document.querySelector('tr[data-run]').marked")).toBe(true);
    expect(await page.locator(".details").count()).toBe(1);
  });

  it("pauses with a reason, says what a queued run waits for, and resumes", async () => {
    const page = await signIn();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByLabel("Reason").fill("to see whether it works");
    expect(await confirm(page, "Pause")).toContain("Ingestion is paused");
    await page.locator('[data-card="Ingest"] .pill', { hasText: "paused" }).waitFor();
    await page.getByRole("button", { name: "Queue a run" }).click();
    expect(await confirm(page, "Queue")).toMatch(/resume/i);
    const waiting = page.locator(".track", { hasText: "queued" });
    await waiting.getByRole("button", { name: "Cancel" }).click();
    expect(await confirm(page, "Cancel the run")).toContain("cancelled");
    await page.getByRole("button", { name: "Resume" }).click();
    expect(await confirm(page, "Resume")).toContain("Ingestion goes on");
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await page.getByRole("link", { name: "Audit" }).click();
    await page.locator("code", { hasText: "ingest.pause" }).first().waitFor();
  });

  it("does nothing where one does not confirm", async () => {
    const page = await signIn();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Keep as it is" }).click();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.keyboard.press("Escape");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.reload();
    await page.getByRole("button", { name: "Pause" }).waitFor();
  });
});

describe("versions", () => {
  it("shows what a new version changed, and serves the earlier one again", async () => {
    dropAllAirportsBut("GVA");
    const page = await signIn();
    await page.getByRole("button", { name: "Queue a run" }).click();
    await page.getByLabel("Source").selectOption("dropped");
    await confirm(page, "Queue");
    await page.locator(".track .stage[aria-current=step]").first().waitFor();
    const published = firstRun(page).locator(".pill", { hasText: "published" });
    await published.waitFor({ timeout: PUBLISH_MS });
    await page.getByRole("link", { name: "Versions" }).click();
    const second = page.locator('tr[data-version="2"]');
    await second.getByText("current").waitFor();
    expect(await second.textContent()).toContain("9,073");
    await second.getByRole("button", { name: "Compare with 1" }).click();
    const diff = page.locator('[data-diff="1-2"]');
    await diff.locator("del", { hasText: "GVA" }).waitFor();
    await page.locator('tr[data-version="1"]').getByRole("button", { name: "Roll back" }).click();
    expect(await confirm(page, "Roll back")).toContain("published again, as 3");
    await page.locator('tr[data-version="3"]').getByText("current").waitFor();
    await page.getByLabel("From version").selectOption("1");
    await page.getByLabel("To version").selectOption("3");
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.getByText("The two versions have the same content").waitFor();
  });
});

/** Puts the snapshot's airports but one where the source `dropped` finds them. */
function dropAllAirportsBut(iata: string): void {
  const folder = mkdtempSync(join(tmpdir(), "locations-drop-"));
  const all = gunzipSync(readFileSync("data/snapshot/airports.csv.gz")).toString().split("\n");
  const file = join(folder, "airports.csv");
  writeFileSync(file, all.filter((line) => !line.split(",").includes(iata)).join("\n"));
  putObject("drop/airports.csv", file);
  putObject("drop/regions.csv.gz", "data/snapshot/regions.csv.gz");
  rmSync(folder, { recursive: true });
}

function putObject(key: string, file: string): void {
  const state = dirname(inject("service").logFile);
  const wrangler = "node_modules/wrangler/bin/wrangler.js";
  const args = ["r2", "object", "put", `locations-archive/${key}`, `--file=${file}`, "--local"];
  execFileSync(process.execPath, [wrangler, ...args, `--persist-to=${state}`]);
}

const AT = "2026-11-21T06:00:00.000Z";

const ALERT_RUN = {
  id: "01a1fcea-0000-7000-8000-000000000001",
  trigger: "cron",
  started_at: AT,
  finished_at: AT,
  duration_ms: 41,
  worst: "fail",
  rules_total: 2,
  pending: 0,
  firing: 1,
  fired: 1,
  resolved: 0,
  nodata: 0,
  suppressed: 0,
  notified: 1,
  notify_failed: 0,
  results: [
    {
      rule: "backup_stale",
      fingerprint: "1",
      labels: {},
      severity: "fail",
      state: "firing",
      previous_state: "pending",
      since: AT,
      value: 180_000_000,
      threshold: 129_600_000,
      unit: "ms",
      message: "The last backup is two days old.",
      evidence: {},
      notified: [],
    },
    {
      rule: "queue_backlog",
      fingerprint: "2",
      labels: {},
      severity: "warn",
      state: "inactive",
      previous_state: "inactive",
      since: AT,
      value: 0,
      threshold: 5,
      unit: "runs",
      message: "No run waits.",
      evidence: {},
      notified: [],
    },
  ],
};

const BACKUP = {
  id: "20261121T060000Z-daily",
  state: "complete",
  trigger: "cron",
  note: null,
  pinned: true,
  started_at: AT,
  finished_at: AT,
  duration_ms: 5_400,
  size_bytes: 12_345_678,
  parts: 7,
  tables: {},
  generation: 1,
  catalog_sha256: "0".repeat(64),
  verified: { state: "verified", at: AT, message: "Every part is right." },
  problem: null,
  expires_at: null,
};

const JOB = {
  id: "01a1fcea-0000-7000-8000-000000000002",
  kind: "run",
  backup_id: "20261121T070000Z-manual",
  state: "running",
  phase: "copy_tables",
  progress: { done: 2, total: 5 },
  queued_at: AT,
  duration_ms: null,
  way_back_id: null,
  error: null,
};

// With documents of our own, since a running service has no alert to show.
describe("alerts and backups", () => {
  it("shows what fires, what the rules found before, and every rule where one asks", async () => {
    const page = await signIn();
    await page.route(/\/admin\/alerts\/runs/, (route) =>
      route.fulfill({ json: { runs: [ALERT_RUN], next_cursor: null, total: 1 } }),
    );
    await page.getByRole("link", { name: "Alerts" }).click();
    const rules = page.getByRole("group", { name: "Rules" });
    await rules.getByText("The last backup is two days old.").waitFor();
    expect(await rules.textContent()).toContain("2 d 2 h");
    expect(await rules.getByText("queue_backlog").count()).toBe(0);
    await page.getByRole("button", { name: "All rules" }).click();
    await rules.getByText("queue_backlog").waitFor();
    await page.getByRole("group", { name: "Evaluations" }).getByText("cron").waitFor();
    expect(await seriousFaults(page)).toEqual([]);
  });

  it("shows the backups and when one was last verified", async () => {
    const page = await signIn();
    await page.route(/\/admin\/backup\/list/, (route) =>
      route.fulfill({ json: { status: "ok", backups: [BACKUP], next_cursor: null } }),
    );
    await page.route(/\/admin\/backup\/jobs/, (route) => route.fulfill({ json: { jobs: [JOB] } }));
    await page.getByRole("link", { name: "Backups" }).click();
    const row = page.locator("tr[data-backup]");
    await row.getByText("12.3 MB").waitFor();
    expect(await row.textContent()).toContain("pinned");
    await page.getByText("Last verified").waitFor();
    await page.locator("tr[data-job]").getByText("copy tables, 2 of 5").waitFor();
    await page.route(/\/admin\/backup\/.*\/verify/, (route) =>
      route.fulfill({ json: { message: "Every part is as it was written." } }),
    );
    await row.getByRole("button", { name: "Verify" }).click();
    expect(await confirm(page, "Verify")).toBe("Every part is as it was written.");
    expect(await seriousFaults(page)).toEqual([]);
  });

  it("says so in a deployment that has none, and shows what the service refuses", async () => {
    const page = await signIn();
    const problem = { type: "about:blank", status: 404, code: "not_found", detail: "Nothing." };
    await page.route(/\/admin\/(alerts|backup)\//, (route) =>
      route.fulfill({ status: 404, json: problem, contentType: "application/problem+json" }),
    );
    await page.getByRole("link", { name: "Alerts" }).click();
    await page.getByText("This deployment has no alert history.").waitFor();
    await page.getByRole("link", { name: "Backups" }).click();
    await page.getByText("This deployment has no list of backups.").waitFor();
    await page.getByRole("button", { name: "Back up now" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Back up", exact: true }).click();
    await dialog.getByRole("alert").getByText("Nothing.").waitFor();
    expect(takeProblems().every((text) => text.includes("404"))).toBe(true);
  });
});

describe("the dashboard", () => {
  it.each(["light", "dark"] as const)(
    "has no serious fault of accessibility, %s",
    async (colorScheme) => {
      const page = await signIn("", { colorScheme });
      for (const tab of ["Runs", "Versions", "Audit"]) {
        await page.getByRole("link", { name: tab }).click();
        await page.locator("tbody tr").first().waitFor();
        expect(await seriousFaults(page)).toEqual([]);
      }
      await page.getByRole("button", { name: "Pause" }).click();
      expect(await seriousFaults(page)).toEqual([]);
    },
  );

  it("fits a phone", async () => {
    const page = await signIn("", { viewport: { width: 360, height: 740 } });
    await firstRun(page).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
  });
});
