import type { Route } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import manifest from "../../../../data/snapshot/manifest.json" with { type: "json" };
import { seriousFaults, takeProblems, useBrowser } from "../browser.ts";
import {
  admin,
  confirm,
  currentVersion,
  dropAirports,
  evaluateAlerts,
  FAILED,
  firstRun,
  leaveServiceAsFound,
  signIn,
} from "./dashboard-page.ts";

useBrowser();
leaveServiceAsFound();

const { airports } = manifest.counts;
const AIRPORTS = airports.toLocaleString("en");

/** The generations of the published versions, the newest first. */
async function versionsOf(): Promise<number[]> {
  type Body = { readonly versions: { readonly generation: number }[] };
  const { versions } = await admin<Body>("GET", "catalog/versions");
  return versions.map(({ generation }) => generation);
}

describe("the dashboard, where ingestion is operated,", () => {
  it("queues a run, shows its stages and then its counts", async () => {
    const page = await signIn();
    await page.getByRole("button", { name: "Queue a run" }).click();
    await page.getByLabel("Mode").selectOption("dry_run");
    await page.getByLabel("Note").fill("from a test");
    expect(await confirm(page, "Queue")).toMatch(/run/i);
    await firstRun(page).getByText("dry run").last().waitFor();
    await page.locator(".track").waitFor({ state: "detached" });
    await firstRun(page).locator(".pill", { hasText: "dry run" }).waitFor();
    await firstRun(page).getByRole("link").click();
    const details = page.locator(".details");
    await details.getByText("It changes nothing in the published catalog.").waitFor();
    expect(await details.textContent()).toContain("from a test");
    expect(await details.textContent()).toContain(AIRPORTS);
    expect(await details.textContent()).toContain("No upstream row was rejected");
    for (const stage of ["fetch", "parse", "build", "guard"])
      await details
        .locator(".stage.is-done", { hasText: new RegExp(`^${stage}\\d.*s$`) })
        .waitFor();
    expect(await details.locator(".stage.is-done").count()).toBe(4);
    const again = await signIn(new URL(page.url()).hash);
    await again.locator(".details").getByText("from a test").waitFor();
  });

  it("approves a run that the guards refused, after showing what it changes", async () => {
    const kept = await dropAirports((_, index) => index % 10 !== 0);
    const page = await signIn();
    await page.getByRole("button", { name: "Queue a run" }).click();
    await page.getByLabel("Source").selectOption("dropped");
    await confirm(page, "Queue");
    await firstRun(page).locator(".pill", { hasText: "failed" }).waitFor();
    const refused = (await firstRun(page).getAttribute("data-key")) ?? "";
    expect(await firstRun(page).textContent()).toContain(kept.toLocaleString("en"));
    await dropAirports((_, index) => index % 2 !== 0);
    await evaluateAlerts();
    const failed = page.locator(`[data-card="${FAILED}"]`);
    await failed.locator("li", { hasText: "was refused" }).getByText("The run").click();
    const details = page.locator(".details");
    const airportsShrank = details.locator(".notice", { hasText: `airports ${airports} →` });
    // Once: what the error says as well is not repeated.
    await airportsShrank.waitFor();
    await expect.poll(() => details.locator(".diff-removed del").count()).toBeGreaterThan(9);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("dialog").getByText("airports").first().waitFor();
    await page.getByRole("dialog").getByText("No backup is made first").waitFor();
    const backups = await admin("GET", "backup/list");
    const before = await versionsOf();
    await confirm(page, "Approve");
    await page.getByRole("link", { name: "All runs" }).click();
    await firstRun(page).locator(".pill", { hasText: "published" }).waitFor();
    // As the dialog says.
    expect(await admin("GET", "backup/list")).toEqual(backups);
    expect(await versionsOf()).toContain(before[0]);
    await firstRun(page).getByText(kept.toLocaleString("en")).waitFor();
    await firstRun(page).getByRole("link").click();
    await details.getByRole("link", { name: refused }).waitFor();
  });

  it("asks in the dialog for another token once one has expired, and sends the same note", async () => {
    const page = await signIn();
    const { adminToken } = inject("service");
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByLabel("Note").fill("typed before it expired");
    await page.evaluate("sessionStorage.setItem('locations.admin-token', 'expired')");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Pause", exact: true }).click();
    await dialog.getByText("Nothing has changed.").waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    // The focus is where the token belongs.
    await page.keyboard.insertText(adminToken);
    await page.keyboard.press("Enter");
    await dialog.getByRole("status").getByText("Ingestion is paused").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.locator("summary", { hasText: "Ingestion is paused" }).click();
    await page.getByText("“typed before it expired”").first().waitFor();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    expect(takeProblems().filter((problem) => !/401|429/.test(problem))).toEqual([]);
  });

  it("pauses with a reason, says why a queued run waits, and resumes", async () => {
    const page = await signIn();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByLabel("Note").fill("to see whether it works");
    expect(await confirm(page, "Pause")).toContain("Ingestion is paused");
    const next = page.locator('[data-card="What happens next?"]');
    await next.locator("summary").click();
    await next.getByText("“to see whether it works”").waitFor();
    expect(await next.textContent()).toMatch(/Paused by .*The pause ends when somebody resumes/);
    await page.getByRole("button", { name: "Queue a run" }).click();
    expect(await confirm(page, "Queue")).toMatch(/when the pause ends/);
    const waiting = page.locator(".track", { hasText: "queued" });
    await waiting.getByRole("button", { name: "Cancel" }).click();
    expect(await confirm(page, "Cancel the run")).toContain("cancelled");
    await page.getByRole("button", { name: "Resume" }).click();
    expect(await confirm(page, "Resume")).toContain("Ingestion has resumed");
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await page.getByRole("link", { name: "Audit" }).click();
    await page.getByRole("row", { name: "Pause ingestion" }).first().waitFor();
    const paused = page.getByRole("row", { name: "Pause ingestion" }).first();
    expect(await paused.textContent()).toContain("note: to see whether it works");
  });
});

describe("the dashboard's versions", () => {
  it("show the changes of a new version and can be rolled back", async () => {
    await dropAirports((row) => !row.split(",").includes("GVA"));
    const page = await signIn("#versions");
    const before = await currentVersion(page);
    await page.getByRole("link", { name: "Runs" }).click();
    await page.getByRole("button", { name: "Queue a run" }).click();
    await page.getByLabel("Source").selectOption("dropped");
    await confirm(page, "Queue");
    await page.locator(".track .stage[aria-current=step]").first().waitFor();
    const published = firstRun(page).locator(".pill", { hasText: "published" });
    await published.waitFor();
    await page.getByRole("link", { name: "Versions" }).click();
    const after = page.locator(`tr[data-key="${before + 1}"]`);
    await after.getByText("current").waitFor();
    expect(await after.textContent()).toContain((airports - 1).toLocaleString("en"));
    const earlier = page.locator(`tr[data-key="${before}"]`);
    // It asks again soon after a failure.
    const fail = (route: Route) => route.fulfill({ status: 503 });
    await page.route("**/admin/catalog/comparison?*", fail, { times: 1 });
    await earlier.getByRole("button", { name: "Changes since" }).click();
    const diff = page.locator(`[data-diff="${before}-${before + 1}"]`);
    await diff.locator("del", { hasText: "GVA Geneva" }).waitFor();
    expect(takeProblems()).toEqual([expect.stringContaining("503")]);
    await earlier.getByRole("button", { name: "Roll back" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Ingestion is not paused: the next run may publish").waitFor();
    await dialog.locator("ins", { hasText: "GVA Geneva" }).waitFor();
    await dialog
      .getByText(`airports ${(airports - 1).toLocaleString("en")} → ${AIRPORTS}`)
      .waitFor();
    await dialog.getByLabel("Note").fill("Geneva is missing");
    expect(await confirm(page, "Roll back")).toContain(`published again, as ${before + 2}`);
    const rolledBack = page.locator(`tr[data-key="${before + 2}"]`);
    await rolledBack.getByText("current").waitFor();
    await rolledBack.getByText(/^the content of \d+$/).waitFor();
    await earlier.getByRole("button", { name: "Changes since" }).click();
    await page.getByText("The content is the same").waitFor();
  });
});
