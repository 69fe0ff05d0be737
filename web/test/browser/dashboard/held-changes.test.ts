import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { aHeldChange, ZURICH } from "../../../../test/builders/held-change.ts";
import { seriousFaults, useBrowser } from "../browser.ts";
import { confirm, evaluateAlerts, signIn } from "./dashboard-page.ts";

useBrowser();
beforeAll(evaluateAlerts);

/** A change by upstream that waits. */
const HELD = aHeldChange({ due_at: "2099-11-04T04:17:00.000Z" });
/** The list of held changes, as the service answers with these. */
const listHeld = (page: Page, held: () => readonly object[]) =>
  page.route(/\/admin\/ingest\/held\?/, (route) => {
    const total = held().length;
    const by_rule = total === 0 ? {} : { changes_name: total };
    return route.fulfill({ json: { held: held(), by_rule, next_cursor: null, total } });
  });

describe("the dashboard's held changes", () => {
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
    await page.getByRole("link", { name: "Held changes 1 to decide on" }).waitFor();
    await page.locator("summary", { hasText: "changes name 1 change" }).waitFor();
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
});
