import { describe, expect, it } from "vitest";
import { newPage, openPage, useBrowser } from "./browser.ts";
import { waitForAnswer } from "./explorer-page.ts";

useBrowser();

describe("the explorer's search", () => {
  it("fetches names in other languages only once somebody is about to search", async () => {
    const page = await newPage();
    const requested: string[] = [];
    page.on("request", (request) => requested.push(new URL(request.url()).pathname));
    await page.goto("/?locale=de");
    await waitForAnswer(page, "de");
    expect(requested).toContain("/search/v1/ranks.json");
    expect(requested).not.toContain("/search/v1/names.json");
    await page.locator("[role=combobox]").fill("mailand");
    await page.getByRole("option").first().getByText("Lombardei, Italien").waitFor();
    expect(requested).toContain("/search/v1/names.json");
  });

  it("keeps the focus while the place of the address comes, so that it shows what it finds", async () => {
    const page = await newPage();
    const { promise: typed, resolve: go } = Promise.withResolvers<void>();
    await page.route("**/GetLocationsV1*", async (route) => {
      await typed;
      await route.continue();
    });
    await page.goto("/?airport=ZRH");
    const search = page.locator("[role=combobox]");
    await search.pressSequentially("lugano");
    go();
    await page.getByRole("heading", { level: 1, name: "Zürich Airport" }).waitFor();
    await page.locator("#search-results li").first().getByText("Lugano").first().waitFor();
    await search.press("Enter");
    const heading = page.getByRole("heading", { level: 1, name: "Lugano", exact: true });
    await heading.waitFor();
    await expect.poll(() => heading.evaluate((h1) => h1.matches(":focus"))).toBe(true);
  });

  it("finds places by code, by name, by a name in another language and despite a typo", async () => {
    const page = await openPage("/?locale=de");
    await waitForAnswer(page, "de");
    const options = page.locator("#search-results li");
    const search = page.locator("[role=combobox]");
    for (const [typed, found] of [
      ["zrh", "Zürich Airport"],
      ["NYC", "New York"],
      ["sudostasien", "Südostasien"],
      ["münchen", "München"],
      ["Zurch", "Zürich"],
    ] as const) {
      await search.fill(typed);
      await options.first().getByText(found, { exact: true }).waitFor();
    }
    await search.fill("wxzqvj");
    await page.getByText("Nichts gefunden für „wxzqvj“").waitFor();
    expect(await options.count()).toBe(0);
  });

  it("says which closed airport a result replaces, and so does its panel", async () => {
    const page = await openPage("/");
    await waitForAnswer(page, "en");
    await page.getByRole("combobox", { name: "Search" }).fill("tegel");
    const option = page.getByRole("option", { name: "Berlin Brandenburg" });
    await option.getByText("Replaces: Berlin Tegel (TXL) since 2020").click();
    await page.getByRole("heading", { level: 1, name: "Berlin Brandenburg" }).waitFor();
    const replaced = await page.locator(".fact", { hasText: "Replaces" }).textContent();
    expect(replaced).toContain("Berlin Tempelhof (THF) since 2008");
  });

  it("says how far an airport is from a place that has none", async () => {
    const page = await openPage("/");
    await waitForAnswer(page, "en");
    await page.getByRole("combobox", { name: "Search" }).fill("zermatt");
    const option = page.getByRole("option", { name: "ZRH Zürich Airport" });
    const distance = option.getByText(/ km from Zermatt$/);
    await distance.waitFor();
    expect(parseInt((await distance.textContent()) ?? "", 10)).toBeGreaterThan(50);
  });

  it("names the city of airports below it only to those who hear the list", async () => {
    const page = await openPage("/");
    await waitForAnswer(page, "en");
    await page.getByRole("combobox", { name: "Search" }).fill("london");
    const heathrow = page.getByRole("option", {
      name: "LHR London Heathrow Airport London, United",
    });
    await heathrow.waitFor();
    expect((await heathrow.locator("small").boundingBox())?.width).toBe(1);
  });

  it("clears the search by a button, which leaves the focus in it", async () => {
    const page = await openPage("/");
    await waitForAnswer(page, "en");
    const search = page.getByRole("combobox", { name: "Search" });
    await search.fill("london");
    await page.getByRole("option").first().waitFor();
    await page.getByRole("button", { name: "Clear the search" }).click();
    expect(await search.inputValue()).toBe("");
    expect(await search.evaluate("document.activeElement.role")).toBe("combobox");
    expect(await page.locator("#search-results li").count()).toBe(0);
    expect(await page.getByRole("button", { name: "Clear the search" }).count()).toBe(0);
  });

  it("moves nothing while somebody types, whether or not something is found", async () => {
    const page = await openPage("/", { viewport: { width: 390, height: 844 } });
    await waitForAnswer(page, "en");
    const heading = page.getByRole("heading", { level: 1 });
    const before = await heading.boundingBox();
    await page.getByRole("combobox", { name: "Search" }).fill("milan");
    await page.getByRole("option").first().waitFor();
    expect(await heading.boundingBox()).toEqual(before);
    await page.getByRole("combobox", { name: "Search" }).fill("wxzqvj");
    await page.getByText("Nothing found for “wxzqvj”").waitFor();
    expect(await heading.boundingBox()).toEqual(before);
  });

  it("leaves the list open where its edge is clicked", async () => {
    const page = await openPage("/");
    await waitForAnswer(page, "en");
    await page.getByRole("combobox", { name: "Search" }).fill("london");
    await page.getByRole("option").first().waitFor();
    const list = await page.getByRole("listbox").boundingBox();
    await page.mouse.click((list?.x ?? 0) + 2, (list?.y ?? 0) + 2);
    expect(await page.getByRole("option").count()).toBeGreaterThan(1);
    expect(await page.locator(".place").count()).toBe(0);
  });

  it("chooses nothing from the results of an earlier text", async () => {
    const page = await openPage("/");
    await waitForAnswer(page, "en");
    const search = page.getByRole("combobox", { name: "Search" });
    await search.fill("zrh");
    await page.getByRole("option").first().getByText("Zürich Airport").waitFor();
    // The page hears of the letter before the worker has answered.
    await page.evaluate(`(async () => {
      const input = document.querySelector("[role=combobox]");
      input.value = "lhr";
      input.dispatchEvent(new Event("input", { bubbles: true }));
      for (let turn = 0; turn < 10; turn++) await null;
      document.querySelector("[role=option]").click();
    })()`);
    await page.getByRole("option").first().getByText("London Heathrow Airport").waitFor();
    expect(await page.locator(".place").count()).toBe(0);
  });

  it("says that the catalog is still loading when somebody searches early, and Enter waits for it", async () => {
    const page = await newPage();
    const held: (() => void)[] = [];
    await page.route("**/GetLocationsV1*", async (route) => {
      await new Promise<void>((resolve) => held.push(resolve));
      await route.continue();
    });
    await page.goto("/");
    await page.getByRole("combobox", { name: "Search" }).fill("zrh");
    await page.getByText("Still loading").waitFor();
    await page.keyboard.press("Enter");
    expect(await page.locator(".place").count()).toBe(0);
    for (const release of held) release();
    await page.getByRole("heading", { level: 1, name: "Zürich Airport" }).waitFor();
  });

  it("says where no place has all words", async () => {
    const page = await openPage("/");
    await waitForAnswer(page, "en");
    await page.getByRole("combobox", { name: "Search" }).fill("gatwick north terminal");
    await page.getByText("Nothing has all of these words").waitFor();
    const first = page.getByRole("option").first();
    await first.getByText("London Gatwick Airport").waitFor();
    expect(await first.textContent()).toContain("LGW");
  });

  it("says of each guess below what was found that it is only similar", async () => {
    const page = await openPage("/");
    await waitForAnswer(page, "en");
    await page.getByRole("combobox", { name: "Search" }).fill("tampe");
    const options = page.getByRole("listbox", { name: "Results" }).getByRole("option");
    const similar = options.filter({ hasText: "only similar" });
    await similar.filter({ hasText: "Tampa" }).first().waitFor();
    const found = options.filter({ hasNotText: "only similar" });
    expect((await found.first().textContent()) ?? "").toContain("Tampere");
    expect((await found.allTextContents()).join()).not.toContain("Tampa");
  });

  it("allows a search by keyboard alone", async () => {
    const page = await openPage("/");
    await waitForAnswer(page, "en");
    await page.keyboard.press("Tab");
    const search = page.getByRole("combobox", { name: "Search" });
    await search.focus();
    await page.keyboard.type("sao paulo");
    // Before, the list has what starts with the first letters.
    const current = page.locator('[role="listbox"][aria-busy="false"]');
    await current.getByRole("option", { name: "São Paulo" }).first().waitFor();
    await page.keyboard.press("ArrowDown");
    const chosen = page.locator('[role="option"][aria-selected="true"]');
    const name = (await chosen.locator("bdi").textContent()) ?? "";
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name }).waitFor();
    expect(new URL(page.url()).search).not.toBe("");
  });
});
