import type { Locator, Page, Route } from "playwright-core";
import { describe, expect, it } from "vitest";
import manifest from "../../../../data/snapshot/manifest.json" with { type: "json" };
import { seriousFaults, takeProblems, useBrowser } from "../browser.ts";
import {
  confirm,
  dropAirports,
  firstRun,
  job,
  leaveServiceAsFound,
  signIn,
} from "./dashboard-page.ts";

useBrowser();
leaveServiceAsFound();

describe("the dashboard's alerts", () => {
  it("show the alert that a refused run raises, the findings of the rules and the receipt of a test message", async () => {
    const half = await dropAirports((_, index) => index % 2 === 0);
    const page = await signIn();
    await page.getByRole("button", { name: "Queue a run" }).click();
    await page.getByLabel("Source").selectOption("dropped");
    await confirm(page, "Queue");
    await firstRun(page).locator(".pill", { hasText: "failed" }).waitFor();

    await page.getByRole("link", { name: "Alerts" }).click();
    await page.getByRole("button", { name: "Evaluate now" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Evaluate", exact: true }).click();
    expect(await dialog.getByRole("status").textContent()).toMatch(
      /^\d+ rules evaluated\. Alerts: [1-9]\d* firing/,
    );
    await dialog.getByRole("link", { name: "Show the alerts" }).click();
    const { airports } = manifest.counts;
    const rules = page.getByRole("table", { name: "Rules" });
    const refused = rules.getByRole("row", { name: "guard_tripped" });
    await refused.getByText("firing").waitFor();
    const whatToDo = refused.getByRole("link", { name: "guard_tripped" });
    expect(await whatToDo.getAttribute("href")).toBe("/docs/alerts#guard_tripped");
    expect(await refused.textContent()).toContain(`guard_shrink: airports ${airports} → ${half}`);
    const backlog = rules.locator("code", { hasText: "queue_backlog" });
    expect(await backlog.count()).toBe(0);
    await page.getByRole("button", { name: "All rules" }).click();
    await backlog.first().waitFor();
    const evaluations = page.getByRole("table", { name: "Evaluations" });
    await evaluations.getByText("manual").first().waitFor();
    const failed = page.locator('[data-card="What failed, and what do I do?"]');
    await failed.getByText("guard_shrink").first().waitFor();

    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Test notification" }).click();
    expect(await confirm(page, "Send")).toBe("ops: delivered.");
  });
});

describe("the dashboard's alerts while nobody evaluates the rules", () => {
  it("say so, and do not say that no alert is active", async () => {
    const output = "the rules were last evaluated 5 h ago";
    const page = await signIn("#backups");
    await page.route("/admin/monitor/status", async (route) => {
      const body = await (await route.fetch()).json();
      const late = { "monitor:evaluation": [{ status: "fail", output }] };
      await route.fulfill({ json: { ...body, checks: { ...body.checks, ...late } } });
    });
    await page.route(/\/admin\/alerts\/runs/, async (route) => {
      const body = await (await route.fetch()).json();
      const runs = body.runs.map((run: object) => ({ ...run, results: [] }));
      await route.fulfill({ json: { ...body, runs } });
    });
    await page.getByRole("link", { name: "Alerts" }).click();
    await page.locator(".notice-bad", { hasText: output }).waitFor();
    await page.getByText("No alert was active then.").waitFor();
    expect(await page.getByText("No alert is active.").count()).toBe(0);
  });
});

describe("the dashboard's backups", () => {
  it("can be made, verified, pinned, deleted and restored", async () => {
    const page = await signIn("#backups");
    const first = await backUp(page, "the first");
    await first.getByRole("button", { name: "Verify" }).click();
    expect(await confirm(page, "Verify")).toContain("The job is queued.");
    await job(page, "verification").getByText("succeeded").waitFor();
    await page.getByText("Last verified").waitFor();

    // The newest one, which nobody may delete.
    expect(await first.getByRole("button", { name: "Delete" }).count()).toBe(0);
    const second = await backUp(page, "the second");
    await first.getByRole("button", { name: "Pin" }).click();
    expect(await confirm(page, "Pin")).toBe("The backup is kept until somebody unpins it.");
    await first.getByText("pinned").waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    expect(await first.getByRole("button", { name: "Delete" }).count()).toBe(0);
    await first.getByRole("button", { name: "Unpin" }).click();
    expect(await confirm(page, "Unpin")).toBe("The backup is left to retention.");
    expect(await remove(page, first)).toBe("The backup is deleted.");
    await first.waitFor({ state: "detached" });

    await second.getByRole("button", { name: "Restore" }).click();
    expect(await confirm(page, "Restore")).toContain("The job is queued.");
    await job(page, "restore").getByText("To undo it, restore").waitFor();
  });

  it("appear together with the jobs above them, so that nothing moves", async () => {
    const page = await signIn();
    const held = Promise.withResolvers<void>();
    await page.route("**/admin/backup-jobs", async (route) => {
      await held.promise;
      await route.continue();
    });
    const listed = page.waitForResponse(/\/admin\/backup\/list/);
    await page.getByRole("link", { name: "Backups" }).click();
    await (await listed).finished();
    await page.waitForTimeout(200);
    expect(await page.getByRole("table").count()).toBe(0);
    held.resolve();
    await page.getByRole("table", { name: "Jobs" }).waitFor();
    expect(await page.getByRole("table", { name: "Backups" }).count()).toBe(1);
  });

  it("offer neither a verification nor a restore while they are made", async () => {
    const page = await signIn("#backups");
    await backUp(page, "soon complete");
    await page.route("**/admin/backup/list*", async (route) => {
      const body = await (await route.fetch()).json();
      const [first, ...others] = body.backups;
      await route.fulfill({
        json: { ...body, backups: [{ ...first, state: "running" }, ...others] },
      });
    });
    const made = page.getByRole("row", { name: "soon complete" });
    await made.getByText("running").waitFor();
    expect(await made.getByRole("button").count()).toBe(1);
    expect(await made.getByRole("button", { name: "Pin" }).count()).toBe(1);
  });

  it("appear once, though the dialog sends a request again that got no answer", async () => {
    const page = await signIn();
    const lost = async (route: Route) => {
      await route.fetch();
      await route.abort();
    };
    await page.route("**/admin/backup/run", lost, { times: 1 });
    await page.getByRole("button", { name: "Back up …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Back up", exact: true }).click();
    await dialog.getByText("The service does not answer.").waitFor();
    for (const problem of takeProblems()) expect(problem).toContain("ERR_FAILED");
    await dialog.getByRole("button", { name: "Try again" }).click();
    await dialog.getByText("The same job was queued before").first().waitFor();
    await dialog.getByRole("link", { name: "Show the backups" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect(new URL(page.url()).hash).toBe("#backups");
  });
});

/** Takes a backup and waits until it has proved good; its row. */
async function backUp(page: Page, note: string): Promise<Locator> {
  await page.getByRole("button", { name: "Back up …" }).click();
  await page.getByLabel("Note").fill(note);
  expect(await confirm(page, "Back up")).toContain("The job is queued.");
  const row = page.getByRole("table", { name: "Backups" }).getByRole("row", { name: note });
  await row.getByText("verified", { exact: true }).waitFor();
  return row;
}

/** Deletes a backup; what the service answered. */
async function remove(page: Page, row: Locator): Promise<string> {
  await row.getByRole("button", { name: "Delete" }).click();
  return confirm(page, "Delete");
}
