/** These tests pause the service and change what is published, so they take turns. */
import { readFileSync } from "node:fs";
import type { Page, Route } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import manifest from "../../../../data/snapshot/manifest.json" with { type: "json" };
import { aHeldChange, ZURICH } from "../../../../test/builders/held-change.ts";
import { openPage, seriousFaults, takeProblems, useBrowser } from "../browser.ts";
import {
  admin,
  confirm,
  dropAirports,
  evaluateAlerts,
  firstRun,
  leaveServiceAsFound,
  signIn,
} from "./dashboard-page.ts";

useBrowser();
leaveServiceAsFound();

const { airports } = manifest.counts;
const AIRPORTS = airports.toLocaleString("en");
const FAILED = "What failed, and what do I do?";
const STATUS = /\/admin\/monitor\/status/;

/** A change by upstream that waits. */
const HELD = aHeldChange({ due_at: "2099-11-04T04:17:00.000Z" });
/** The list of held changes, as the service answers with these. */
const listHeld = (page: Page, held: () => readonly object[]) =>
  page.route(/\/admin\/ingest\/held\?/, (route) => {
    const total = held().length;
    const by_rule = total === 0 ? {} : { changes_name: total };
    return route.fulfill({ json: { held: held(), by_rule, next_cursor: null, total } });
  });
/** The service's answers, with these details of what failed. */
const haveFailed = (page: Page, details: readonly { text: string; at: string | null }[]) =>
  page.route(/\/dashboard\/summary|\/admin\/monitor\/status/, async (route) => {
    const body = await (await route.fetch()).json();
    const failed = { status: "fail", details: details.map((given) => ({ ...given, links: [] })) };
    for (const answer of body.answers)
      if (answer.question === "failed") Object.assign(answer, failed);
    await route.fulfill({ json: body });
  });
const RUNS = /\/admin\/ingest\/runs(?:\?|$)/;

/** The generations of the published versions, the newest first. */
async function versionsOf(): Promise<number[]> {
  type Body = { readonly versions: { readonly generation: number }[] };
  const { versions } = await admin<Body>("GET", "catalog/versions");
  return versions.map(({ generation }) => generation);
}

describe("the dashboard's sign-in", () => {
  it("shows the health of the service to everybody, and everything else only with a token", async () => {
    const page = await openPage("/dashboard");
    await page
      .locator('[data-card="Is it served?"]', { hasText: `${AIRPORTS} airports` })
      .waitFor();
    const fresh = page.locator('[data-card="Is it fresh?"]');
    await fresh.getByText("Last compared with its source").waitFor();
    await page.locator('[data-card="What happens next?"]', { hasText: "Next ingest" }).waitFor();
    await page.getByLabel("Operator’s token").waitFor();
    expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);
    expect(await page.getByRole("link", { name: "History" }).count()).toBe(0);
  });

  it("asks for the token above the answers on a phone", async () => {
    const page = await openPage("/dashboard", { viewport: { width: 390, height: 844 } });
    const field = await page.getByLabel("Operator’s token").boundingBox();
    const answers = await page.getByLabel("At a glance").boundingBox();
    expect(field?.y).toBeLessThan(answers?.y ?? 0);
  });

  it("keeps all answers on the first screen while much has failed", async () => {
    const page = await openPage("/docs", { viewport: { width: 1280, height: 800 } });
    const text = "a message that takes several lines of a narrow card. ".repeat(3);
    await haveFailed(
      page,
      Array.from({ length: 8 }, () => ({ text, at: null })),
    );
    await page.goto("/dashboard");
    const cards = page.locator("[data-card]");
    await cards.last().waitFor();
    for (const card of await cards.all()) expect((await card.boundingBox())?.y).toBeLessThan(760);
    expect(await cards.first().getAttribute("data-card")).toBe(FAILED);
  });

  it.each([1280, 360])(
    "shows what failed first, also to a screen reader, at %i px",
    async (width) => {
      const page = await openPage("/docs", { viewport: { width, height: 800 } });
      await haveFailed(page, [{ text: "a problem", at: null }]);
      await page.goto("/dashboard");
      const cards = page.locator(".cards [data-card]");
      await cards.last().waitFor();
      expect(await cards.first().getAttribute("data-card")).toBe(FAILED);
      const boxes = await Promise.all((await cards.all()).map((card) => card.boundingBox()));
      const places = boxes.map((box) => (box?.y ?? 0) * width + (box?.x ?? 0));
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      // One problem takes no more room than the other answers.
      expect(new Set(boxes.map((box) => Math.round(box?.width ?? 0))).size).toBe(1);
    },
  );

  it("rejects an invalid token with a message, and accepts a valid one", async () => {
    const page = await openPage("/dashboard");
    await page.getByLabel("Operator’s token").fill("not-a-token");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("That token was not accepted.").waitFor();
    await page.getByLabel("Operator’s token").fill(inject("service").adminToken);
    await page.getByRole("button", { name: "Sign in" }).click();
    await firstRun(page).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(takeProblems().every((problem) => problem.includes("401"))).toBe(true);
  });

  it("keeps the token in this tab only and stores it nowhere else", async () => {
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
  });
});

describe("the dashboard without a valid token", () => {
  it("refuses a token that no header can carry, and stores none", async () => {
    const page = await openPage("/dashboard");
    await page.getByLabel("Operator’s token").fill("a-token-and-an-arrow→");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("A token has letters").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    await page.getByLabel("Operator’s token").fill(inject("service").adminToken);
    await page.getByRole("button", { name: "Sign in" }).click();
    await firstRun(page).waitFor();
  });

  it('forgets a token at "Sign out" when the service forbids the request that it was entered for', async () => {
    const page = await signIn();
    const problem = { type: "about:blank", status: 403, code: "forbidden", detail: "Not you." };
    await page.route(RUNS, (route) =>
      "authorization" in route.request().headers()
        ? route.fulfill({ status: 403, json: problem })
        : route.continue(),
    );
    await page.reload();
    await page.getByText("Not you.").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Operator’s token").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    takeProblems();
  });

  it("asks for a token once, however many requests the service refuses", async () => {
    const page = await openPage("/docs");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await page.evaluate("sessionStorage.setItem('locations.admin-token', 'expired')");
    await page.goto("/dashboard");
    const summaries = () => asked.filter((path) => path === "/dashboard/summary");
    await expect.poll(() => summaries().length).toBe(4);
    expect(asked.filter((path) => path.startsWith("/admin/"))).toEqual(["/admin/whoami"]);
    expect(takeProblems()).toEqual([expect.stringContaining("401")]);
  });

  it("needs none where Cloudflare Access signs in", async () => {
    const page = await openPage("/docs");
    const { adminToken } = inject("service");
    await page.route("/dashboard/summary", async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ json: { ...(await answer.json()), access: true } });
    });
    await page.route(/\/admin\//, (route) =>
      route.continue({
        headers: { ...route.request().headers(), authorization: `Bearer ${adminToken}` },
      }),
    );
    await page.goto("/dashboard");
    await firstRun(page).waitFor();
    expect(await page.getByLabel("Operator’s token").count()).toBe(0);
  });

  it("opens the answers and the actions of an operator also while the history cannot be read", async () => {
    const page = await openPage("/docs");
    const problem = { type: "about:blank", status: 503, code: "history_unavailable" };
    const detail = "The history in D1 cannot be read.";
    await page.route(RUNS, (route) => route.fulfill({ status: 503, json: { ...problem, detail } }));
    const { adminToken } = inject("service");
    await page.evaluate(`sessionStorage.setItem('locations.admin-token', '${adminToken}')`);
    await page.goto("/dashboard");
    await page.getByText(detail).waitFor();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await page.getByRole("link", { name: "All changes" }).waitFor();
    for (const text of takeProblems()) expect(text).toContain("503");
  });

  it("shows the section to which a link leads, on a phone and again", async () => {
    const height = 400;
    const page = await signIn("", { viewport: { width: 390, height } });
    const sections = page.getByRole("navigation", { name: "Sections" });
    const top = async () => (await sections.boundingBox())?.y ?? Infinity;
    await page.locator("summary", { hasText: "Who changed what?" }).click();
    const link = page.getByRole("link", { name: "All changes" });
    await link.waitFor();
    for (const time of ["first", "second"]) {
      await page.evaluate("window.scrollTo(0, 0)");
      expect(await top(), time).toBeGreaterThan(height);
      await link.click();
      await page.getByRole("heading", { level: 2, name: "Audit" }).waitFor();
      await expect.poll(top).toBeLessThan(0.75 * height);
    }
  });

  it("shows what is wrong and the section on the first screen of a phone", async () => {
    const [width, height] = [390, 844];
    const page = await signIn("", { viewport: { width, height } });
    const text = "a message that takes several lines of a narrow card. ".repeat(2);
    await haveFailed(
      page,
      Array.from({ length: 8 }, () => ({ text, at: null })),
    );
    for (const [hash, title] of Object.entries({ runs: "Ingest runs", held: "Held changes" })) {
      await page.goto(`/dashboard#${hash}`);
      await page.reload();
      const heading = page.getByRole("heading", { level: 2, name: title });
      await heading.waitFor();
      const box = await heading.boundingBox();
      expect((box?.y ?? Infinity) + (box?.height ?? 0), title).toBeLessThan(height);
      const problem = page.locator(`[data-card="${FAILED}"] li`).first();
      expect((await problem.boundingBox())?.y).toBeLessThan(height / 2);
    }
    const others = page.locator(`[data-card="${FAILED}"] summary`);
    await others.click();
    await page.locator(`[data-card="${FAILED}"] li`).last().waitFor();
    expect(await seriousFaults(page)).toEqual([]);
  });

  it.each([390, 1280])("moves nothing while it loads, at %i px", async (width) => {
    const page = await signIn("", { viewport: { width, height: 844 } });
    await firstRun(page).waitFor();
    await page.addInitScript(`
      window.shifted = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.shifted += entry.value;
      }).observe({ type: "layout-shift", buffered: true });
    `);
    await page.reload();
    await firstRun(page).waitFor();
    await page
      .getByRole("button", { name: "Pause", exact: false })
      .and(page.locator(":enabled"))
      .waitFor();
    expect(await page.evaluate("window.shifted")).toBeLessThan(0.02);
  });

  it("shows times in the reader's zone, with UTC beside", async () => {
    const page = await signIn("", { timezoneId: "Asia/Kathmandu" });
    const time = firstRun(page).locator("time small").first();
    expect(await time.innerText()).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d \((?:\d{4}-\d\d-\d\d )?\d\d:\d\d UTC\)$/,
    );
  });

  it("asks for a token again after too many failures", async () => {
    const page = await openPage("/docs");
    const detail = "Too many requests without a valid credential.";
    const problem = { type: "about:blank", status: 429, code: "too_many_failures", detail };
    const whoami = "/admin/whoami";
    await page.route(whoami, (route) => route.fulfill({ status: 429, json: problem }));
    await page.evaluate("sessionStorage.setItem('locations.admin-token', 'expired')");
    await page.goto("/dashboard");
    await page.getByRole("alert").getByText(detail).waitFor();
    await page.unroute(whoami);
    await page.getByLabel("Operator’s token").fill(inject("service").adminToken);
    await page.getByRole("button", { name: "Sign in" }).click();
    await firstRun(page).waitFor();
    expect(takeProblems()).toEqual([expect.stringContaining("429")]);
  });
});

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

  it("shows no stage as under way of a run that has changed nothing", async () => {
    const page = await signIn();
    await page.route(/\/admin\/ingest\/runs\/[^/]+$/, async (route) => {
      const run = await (await route.fetch()).json();
      const ended = {
        ...run,
        state: "succeeded",
        outcome: "unchanged",
        stage: "guard",
        error: null,
      };
      await route.fulfill({ json: ended });
    });
    await firstRun(page).getByRole("link").click();
    const stages = page.locator(".details").getByRole("list", { name: "Stages" });
    await stages.waitFor();
    expect(await stages.locator(".is-done").count()).toBe(4);
    expect(await stages.locator(".is-current, [aria-current]").count()).toBe(0);
  });

  it("says how many changes a run holds, and leads to them", async () => {
    const page = await signIn();
    await page.route(/\/admin\/ingest\/runs\/[^/]+$/, async (route) => {
      const run = await (await route.fetch()).json();
      await route.fulfill({ json: { ...run, held: { waiting: 1868, added: 12 } } });
    });
    await firstRun(page).getByRole("link").click();
    const held = page.getByRole("link", { name: "1,868 changes, 12 of them new" });
    expect(await held.getAttribute("href")).toBe("#held");
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

  it("lists the corrections of the snapshot without a button to decide on them", async () => {
    const page = await signIn("#held");
    await page.getByText("There are none.").waitFor();
    await page.getByLabel("Corrected").check();
    const table = page.getByRole("table", { name: "Held changes" });
    await table.getByText("not listed").first().waitFor();
    expect(await table.getByRole("button", { name: "Approve" }).count()).toBe(0);
    expect(await seriousFaults(page)).toEqual([]);
  });

  it("marks the words of a held change, says when it is due, approves it, and its row goes", async () => {
    const page = await signIn();
    let waiting: object[] = [HELD];
    await listHeld(page, () => waiting);
    const message = "One change is approved. The next run takes over what upstream still says.";
    await page.route(/\/held\/4439-0123456789abcdef\/approve/, (route) => {
      waiting = [];
      return route.fulfill({ json: { changed: true, held: [HELD], run: null, message } });
    });
    await page.getByRole("link", { name: "Held changes" }).click();
    const row = page.getByRole("table", { name: "Held changes" }).getByRole("row", { name: "ZRH" });
    await row.waitFor();
    expect(await row.locator("del").allInnerTexts()).toEqual(["Zürich"]);
    expect(await row.locator("ins").allInnerTexts()).toEqual(["Ghost"]);
    await row.getByText("Taken over in").waitFor();
    const place = row.getByRole("link", { name: "Served place" });
    expect(await place.getAttribute("href")).toBe("/?airport=ZRH");
    expect(await seriousFaults(page)).toEqual([]);
    await row.getByRole("button", { name: "Approve" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("ZRH gets another name.").waitFor();
    expect(await dialog.locator("dd").allInnerTexts()).toEqual(["Zürich Airport", "Ghost Airport"]);
    expect(await confirm(page, "Approve")).toBe(message);
    await page.getByText("There are none.").waitFor();
  });

  it("shows a removal as one", async () => {
    const page = await signIn("#held");
    await listHeld(page, () => [{ ...HELD, rules: ["leaves"], after: null }]);
    await page.getByRole("button", { name: "Approve" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Remove ZRH from the catalog" });
    await dialog.getByText("ZRH leaves the catalog, in every language.").waitFor();
    const button = dialog.getByRole("button", { name: "Remove", exact: true });
    expect(await button.getAttribute("class")).toContain("button-danger");
  });

  it("does not say in the dialog of a rejection that the change is made", async () => {
    const page = await signIn("#held");
    await listHeld(page, () => [HELD]);
    await page.getByRole("button", { name: "Reject" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: "Upstream says" }).waitFor();
    expect(await dialog.getByText("ZRH gets another name").count()).toBe(0);
  });

  it("leaves the focus at the next change once the row of the decided one is gone", async () => {
    const page = await signIn();
    const next = { ...HELD, id: "4440-0123456789abcdef", iata: "GVA", name: "Geneva Airport" };
    let waiting: object[] = [HELD, next];
    await listHeld(page, () => waiting);
    await page.route(/\/held\/4439-0123456789abcdef\/reject/, (route) => {
      waiting = [next];
      const message = "One change is rejected until upstream says something else.";
      return route.fulfill({ json: { changed: true, held: [HELD], run: null, message } });
    });
    await page.getByRole("link", { name: "Held changes" }).click();
    const row = page.getByRole("table", { name: "Held changes" }).getByRole("row", { name: "ZRH" });
    await row.getByRole("button", { name: "Reject" }).press("Enter");
    await page
      .getByRole("dialog")
      .getByRole("button", { name: "Reject", exact: true })
      .press("Enter");
    await page.getByRole("dialog").getByRole("status").waitFor();
    await row.waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Close");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    const focused = "document.activeElement.closest('tr')?.getAttribute('data-key')";
    await expect.poll(() => page.evaluate(focused)).toBe(next.id);
  });

  it("decides on all changes of a rule at once", async () => {
    const page = await signIn();
    const medium = { ...ZURICH, type: "medium_airport" };
    const records = { before: medium, after: { ...medium, name: "Ghost Airport" } };
    const other = { ...HELD, ...records, id: "4440-0123456789abcdef", iata: "GVA" };
    let waiting: object[] = [HELD, other];
    await listHeld(page, () => waiting);
    const sent: unknown[] = [];
    const message = "2 changes are rejected until upstream says something else.";
    await page.route("**/admin/ingest/held/reject", (route) => {
      waiting = [];
      sent.push(route.request().postDataJSON());
      return route.fulfill({ json: { changed: true, held: [], run: null, message } });
    });
    await page.getByRole("link", { name: "Held changes" }).click();
    await page.getByRole("button", { name: "Reject all 2" }).click();
    const listed = page.getByRole("dialog").getByRole("listitem");
    await expect
      .poll(() => listed.allInnerTexts())
      .toEqual(
        ["ZRH", "GVA"].map(
          (iata) => `${iata} Zürich Airport: name: Zürich Airport → Ghost Airport`,
        ),
      );
    await page.getByText("2 changes, 1 of large airports:").waitFor();
    await page.getByLabel("Note").fill("vandalism");
    expect(await confirm(page, "Reject all")).toBe(message);
    expect(sent).toEqual([{ rule: "changes_name", note: "vandalism" }]);
    await page.getByText("There are none.").waitFor();
  });

  it("sends the date of dropped files", async () => {
    const page = await signIn();
    const sent: unknown[] = [];
    await page.route("**/admin/ingest/queue", (route) => {
      sent.push(route.request().postDataJSON());
      return route.fulfill({ json: { message: "The run is queued." } });
    });
    await page.getByRole("button", { name: "Queue a run" }).click();
    await page.getByLabel("Source").selectOption("dropped");
    await page.getByLabel("Date of the data").fill("2026-11-20");
    await confirm(page, "Queue");
    expect(sent).toEqual([{ source: "dropped", as_of: "2026-11-20" }]);
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
    await page.getByText("“typed before it expired”").first().waitFor();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    expect(takeProblems().filter((problem) => !/401|429/.test(problem))).toEqual([]);
  });

  it("updates its rows in place when the page refreshes itself", async () => {
    const page = await signIn();
    await firstRun(page).waitFor();
    await page.evaluate("document.querySelector('tr[data-key]').marked = true");
    const answered = () => page.waitForResponse(/\/admin\/ingest\/runs/);
    await answered();
    await answered();
    expect(await page.evaluate("document.querySelector('tr[data-key]').marked")).toBe(true);
  });

  it("pauses with a reason, says why a queued run waits, and resumes", async () => {
    const page = await signIn();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByLabel("Note").fill("to see whether it works");
    expect(await confirm(page, "Pause")).toContain("Ingestion is paused");
    const next = page.locator('[data-card="What happens next?"]');
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

  it("changes nothing when the operator does not confirm", async () => {
    const page = await signIn();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    await page.reload();
    await page.getByRole("button", { name: "Pause" }).waitFor();
  });
});

describe("the dashboard's versions", () => {
  it("say which locales a rollback ends and brings back, and what does not fit the settings", async () => {
    const page = await signIn("#versions");
    const before = await currentVersion(page);
    // There is no version 0 to compare with.
    await page.route("**/admin/catalog/comparison?to=0", async (route) => {
      const url = route.request().url().replace("to=0", `to=${before}`);
      const { from, to, ...others } = await (await route.fetch({ url })).json();
      const json = {
        ...others,
        from: { ...from, locales: ["en", "fr"] },
        to: { ...to, locales: ["en", "pt"] },
        warning: "DEFAULT_LOCALE is fr: en answers instead.",
      };
      await route.fulfill({ json });
    });
    await page.route("**/admin/catalog/versions", async (route) => {
      const answer = await route.fetch();
      const { versions } = await answer.json();
      const [current] = versions;
      const earlier = { ...current, generation: 0, is_current: false };
      await route.fulfill({ json: { versions: [current, earlier] } });
    });
    await page.reload();
    await page.getByRole("button", { name: "Roll back" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("The content is the same in the locale en.").waitFor();
    const text = await dialog.textContent();
    expect(text).toContain("These locales are no longer served: fr.");
    expect(text).toContain("These locales are served as well: pt.");
    expect(text).toContain("DEFAULT_LOCALE is fr: en answers instead.");
  });

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

/** Whether the focus is seen. */
const OUTLINE = "getComputedStyle(document.activeElement).outlineStyle";
/** How often the dashboard asks for the summary. */
const POLL_MS = 5_000;

/** The version that the table calls current. */
async function currentVersion(page: Page): Promise<number> {
  const row = page.locator("tr[data-key]", { has: page.locator(".pill") });
  return Number(await row.getAttribute("data-key"));
}

describe("the dashboard", () => {
  it.each(["light", "dark"] as const)(
    "has no serious accessibility fault in %s colours",
    async (colorScheme) => {
      const page = await signIn("", { colorScheme });
      for (const tab of ["Versions", "Audit", "Runs"]) {
        await page.getByRole("link", { name: tab }).click();
        await page.locator("tbody tr").first().waitFor();
        expect(await seriousFaults(page), tab).toEqual([]);
      }
      await firstRun(page).getByRole("link").click();
      await page.locator(".run-facts").waitFor();
      expect(await seriousFaults(page), "a run").toEqual([]);
      for (const name of ["Pause …", "Queue a run …", "Back up …"]) {
        const button = page.getByRole("button", { name });
        await button.press("Enter");
        await page.getByRole("dialog").waitFor();
        expect(await seriousFaults(page), name).toEqual([]);
        await page.keyboard.press("Escape");
        expect(await page.evaluate("document.activeElement.textContent")).toBe(name);
      }
    },
  );

  it("keeps the dialog of an action that is opened as soon as another is closed", async () => {
    const page = await signIn();
    await page.getByRole("button", { name: "Back up …" }).click();
    await page.getByRole("heading", { name: "Take a backup" }).waitFor();
    await page.evaluate(`
      const queue = [...document.querySelectorAll("button")].find((one) => one.textContent === "Queue a run …");
      document.querySelector("dialog").close();
      queue.click();
    `);
    await page.getByRole("heading", { name: "Queue an ingest run" }).waitFor();
    await page.evaluate("new Promise((resolve) => setTimeout(resolve, 100))");
    expect(await page.getByRole("dialog").count()).toBe(1);
  });

  it("can be operated by keyboard alone, without losing the focus", async () => {
    const page = await signIn();
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    await expect.poll(focused).toBe("Runs");
    await firstRun(page).getByRole("link").press("Enter");
    await page.locator(".run-facts").waitFor();
    await expect.poll(focused).toBe("Runs");
    await page.getByRole("link", { name: "All runs" }).press("Enter");
    await firstRun(page).waitFor();
    await expect.poll(focused).toBe("Runs");
    for (const name of ["Held changes", "Versions", "Alerts", "Backups", "Audit"]) {
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 2, name: new RegExp(name, "i") }).waitFor();
      expect(await focused()).toBe(name);
      expect(await page.evaluate(OUTLINE)).toBe("solid");
    }
  });

  it("waits for the answer of a slow service before it asks again", async () => {
    const page = await signIn();
    const held: Route[] = [];
    await page.route(/\/admin\/monitor\/status/, (route) => void held.push(route));
    await expect.poll(() => held.length).toBe(1);
    await page.waitForTimeout(POLL_MS * 1.5);
    expect(held).toHaveLength(1);
    await held[0]?.continue();
    await expect.poll(() => held.length).toBe(2);
  });

  it("keeps an audit with a long word in the window", async () => {
    const page = await signIn();
    const entry = {
      id: "1",
      action: "catalog.rollback",
      at: "2026-11-26T05:26:09.000Z",
      actor: "local",
      target: "1",
      outcome: "done",
      detail: null,
      request: { generation: 1, note: "a note of several words that explains it" },
      before: { generation: 2 },
      after: { generation: 3, error: "f8b1a51b".repeat(9) },
    };
    await page.route("**/admin/audit", (route) =>
      route.fulfill({ json: { entries: [entry], next_cursor: null } }),
    );
    await page.getByRole("link", { name: "Audit" }).click();
    await page.getByRole("cell", { name: "f8b1a51bf8b1a51b" }).waitFor();
    for (const width of [1280, 1040]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    }
  });

  const ONE_LINE_PX = 15;

  it("lists the decided changes below what was decided, also on a phone", async () => {
    const page = await signIn("", { viewport: { width: 360, height: 740 } });
    const fields = [{ field: "name", before: "Geneva Cointrin Airport", after: "Calvin Airport" }];
    const changes = [{ id: "1-1", iata: "GVA", name: "Geneva Cointrin Airport", fields }];
    const entry = {
      id: "1",
      action: "ingest.reject_held",
      at: new Date().toISOString(),
      actor: "local",
      target: "1-1",
      outcome: "done",
      detail: null,
      request: null,
      before: { waiting: 1 },
      after: { rejected: 1, changes },
    };
    await page.route(/\/admin\/audit/, (route) =>
      route.fulfill({ json: { entries: [entry], next_cursor: null } }),
    );
    await page.getByRole("link", { name: "Audit" }).click();
    const cell = page.locator("td", { hasText: "waiting: 1 → rejected: 1" });
    const list = await cell.getByRole("list").boundingBox();
    const box = await cell.boundingBox();
    expect(list?.y).toBeGreaterThan((box?.y ?? 0) + ONE_LINE_PX);
    expect(list?.width).toBeGreaterThan(0.6 * (box?.width ?? 0));
  });

  it("fits on a phone", async () => {
    const page = await signIn("", { viewport: { width: 360, height: 740 }, hasTouch: true });
    for (const tab of ["Held changes", "Versions", "Alerts", "Backups", "Audit", "Runs"]) {
      await page.getByRole("link", { name: tab, exact: true }).tap();
      await page.getByRole("heading", { level: 2, name: new RegExp(tab, "i") }).waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth"), tab).toBe(360);
      expect(await seriousFaults(page), tab).toEqual([]);
    }
    await page.getByRole("button", { name: "Queue a run" }).tap();
    const wide = "[...document.querySelectorAll('dialog *')].filter((e) => e.scrollWidth > 360)";
    expect(await page.evaluate(`${wide}.length`)).toBe(0);
    const [mode, dialog] = await Promise.all([
      page.getByLabel("Mode").boundingBox(),
      page.getByRole("dialog").boundingBox(),
    ]);
    expect((mode?.x ?? 0) + (mode?.width ?? 0)).toBeLessThan(
      (dialog?.x ?? 0) + (dialog?.width ?? 0),
    );
  });

  it("shows the service's five answers verbatim, with their links", async () => {
    const page = await signIn();
    const detail = { text: "No file.", at: null, links: [{ text: "Decide", href: "#held" }] };
    const at = new Date().toISOString();
    const answer = { question: "failed", status: "fail", at, answer: "1 problem" };
    const answers = [{ ...answer, details: [detail] }];
    await page.route(STATUS, (route) => route.fulfill({ json: { answers } }));
    const card = page.locator(`[data-card="${FAILED}"]`);
    await card.getByText("No file.").waitFor();
    expect(await card.getAttribute("class")).toContain("tone-bad");
    await card.getByRole("link", { name: "Decide" }).click();
    await page.getByRole("heading", { level: 2, name: "Held changes" }).waitFor();
  });

  it("says who is signed in, and offers a reader nothing that it may not do", async () => {
    const page = await signIn();
    await page.getByText("may operate").waitFor();
    const reader = { id: "viewer", scopes: ["read"], expires_at: "2099-01-01T00:00:00.000Z" };
    await page.route("**/admin/whoami", (route) => route.fulfill({ json: reader }));
    await page.reload();
    await page.getByText("viewer may only read, the token ends").waitFor();
    expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);
  });

  it("greys out the answers once the service is silent", async () => {
    const page = await openPage("/docs");
    await page.clock.install();
    await page.goto("/dashboard");
    const card = page.locator('[data-card="Is it served?"]');
    await card.waitFor();
    expect(await card.getAttribute("class")).toContain("tone-good");
    await page.route(/\/dashboard\/summary/, (route) => route.abort());
    await page.clock.runFor(POLL_MS);
    await card.getByText("Not up to date.").waitFor();
    expect(await card.getAttribute("class")).toContain("tone-quiet");
    takeProblems(); // The service is silent.
  });
});
