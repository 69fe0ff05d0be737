import type { Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { faultsInAllColors, newPage, takeProblems, useBrowser } from "./browser.ts";
import { useExamplePages } from "./example-pages.ts";

useBrowser();

const origin = useExamplePages();

const PAGES = ["combobox.html", "combobox-react.html"];

async function open(name: string, query = `service=${inject("service").url}`): Promise<Page> {
  const page = await newPage();
  await page.goto(`${origin()}/${name}?${query}&locale=de`);
  return page;
}

const field = (page: Page) => page.getByRole("combobox", { name: "City or airport" });
const options = (page: Page) => page.getByRole("option");
const selected = (page: Page) => page.locator('[role="option"][aria-selected="true"]');

async function type(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await options(page).first().waitFor();
}

/** What the field says is active must be the option that is shown as selected. */
async function activeOption(page: Page): Promise<string | null> {
  const id = await field(page).getAttribute("aria-activedescendant");
  expect(await selected(page).getAttribute("id")).toBe(id);
  return selected(page).textContent();
}

describe.each(PAGES)("examples/browser/%s", (name) => {
  it("lists places as one types, and selects the first", async () => {
    const page = await open(name);
    expect(await field(page).getAttribute("aria-expanded")).toBe("false");
    await type(page, "münchen");
    expect(await field(page).getAttribute("aria-expanded")).toBe("true");
    expect(await activeOption(page)).toMatch(/^München.*Deutschland · MUC$/);
    await page
      .getByRole("status")
      .getByText(/^\d+ places?$/)
      .waitFor();
    expect(await faultsInAllColors(page)).toEqual([]);
  });

  it("marks in a name what was typed", async () => {
    const page = await open(name);
    await type(page, "lond");
    expect(await options(page).first().locator("mark").textContent()).toBe("Lond");
  });

  it("moves through the options by the arrow keys, and around their ends", async () => {
    const page = await open(name);
    await type(page, "london");
    const count = await options(page).count();
    await page.keyboard.press("ArrowUp");
    expect(await activeOption(page)).toBe(
      await options(page)
        .nth(count - 1)
        .textContent(),
    );
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    expect(await activeOption(page)).toBe(await options(page).nth(1).textContent());
  });

  it("chooses by Enter and by a click, and keeps the focus in the field", async () => {
    const page = await open(name);
    await type(page, "zrh");
    await page.keyboard.press("Enter");
    await page.locator("output").getByText("(ZRH)").waitFor();
    expect(await options(page).count()).toBe(0);
    await type(page, "london");
    await options(page).filter({ hasText: "LHR" }).filter({ hasText: "Heathrow" }).click();
    await page.locator("output").getByText("(LHR)").waitFor();
    expect(await page.evaluate("document.activeElement.role")).toBe("combobox");
    expect(await field(page).getAttribute("aria-expanded")).toBe("false");
  });

  it("waits with Enter for the places of what is in the field", async () => {
    const page = await open(name);
    await type(page, "rom");
    await field(page).fill("zrh");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("output").textContent()).toContain("(ZRH)");
  });

  it("chooses by an Enter right behind the answer what the answer has", async () => {
    const page = await newPage();
    // As soon as the page has read an answer of the worker, before anything else happens.
    await page.addInitScript(`{
      const { addEventListener } = Worker.prototype;
      const { port1, port2 } = new MessageChannel();
      port2.onmessage = () => document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", { key: "Enter", bubbles: true }),
      );
      Worker.prototype.addEventListener = function (type, listener) {
        addEventListener.call(this, type, (event) => {
          listener(event);
          if (event.data?.kind === "answer" && document.activeElement.value === "zrh") port1.postMessage("");
        });
      };
    }`);
    await page.goto(`${origin()}/${name}?service=${inject("service").url}&locale=de`);
    await type(page, "rom");
    await field(page).fill("zrh");
    await expect.poll(() => page.locator("output").textContent()).toContain("(");
    expect(await page.locator("output").textContent()).toContain("(ZRH)");
  });

  it("chooses nothing by an Enter before the text was another, or after its field was emptied", async () => {
    const page = await open(name);
    await type(page, "rom");
    // At once, before there is an answer.
    await page.evaluate(`{
      const field = document.activeElement;
      const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
      const type = (text) => {
        set.call(field, text);
        field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      };
      type("zrh");
      field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
      type("london");
    }`);
    await options(page).filter({ hasText: "LHR" }).first().waitFor();
    expect(await page.locator("output").textContent()).toBe("nothing");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.keyboard.press("ArrowDown");
    expect(await options(page).count()).toBe(0);
    await page.keyboard.press("Enter");
    expect(await page.locator("output").textContent()).toBe("nothing");
  });

  it("asks again by Enter after a failure, which chooses nothing", async () => {
    const page = await open(name);
    await page.context().setOffline(true);
    await field(page).fill("zrh");
    await expect.poll(() => page.locator('[role="status"]').textContent()).toContain("try again");
    await page.context().setOffline(false);
    await page.keyboard.press("Enter");
    await options(page).first().waitFor();
    expect(await page.locator("output").textContent()).toBe("nothing");
    takeProblems();
  });

  it("lists better places once names in other languages have come, and leaves what was selected", async () => {
    const { promise: sent, resolve: send } = Promise.withResolvers<void>();
    const page = await newPage();
    await page.context().route("**/names.json", async (route) => {
      await sent;
      await route.continue();
    });
    await page.goto(`${origin()}/${name}?service=${inject("service").url}&locale=de`);
    await type(page, "alge");
    expect(await activeOption(page)).toContain("Algerien");
    const other = await page.context().newPage();
    await other.goto(page.url());
    await type(other, "alge");
    await other.keyboard.press("ArrowDown");
    const selectedBefore = await activeOption(other);
    send();
    for (const one of [page, other])
      await options(one)
        .first()
        .filter({ hasText: /^Algier\b/ })
        .waitFor();
    expect(await activeOption(page)).toMatch(/^Algier\b/);
    expect(await activeOption(other)).toBe(selectedBefore);
  });

  it("closes the list by Escape, then empties the field, and opens it by an arrow", async () => {
    const page = await open(name);
    await type(page, "rom");
    await page.keyboard.press("Escape");
    expect(await options(page).count()).toBe(0);
    expect(await field(page).inputValue()).toBe("rom");
    await page.keyboard.press("ArrowDown");
    await options(page).first().waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    expect(await field(page).inputValue()).toBe("");
  });

  it("closes the list when somebody leaves the field", async () => {
    const page = await open(name);
    await type(page, "rom");
    await page.keyboard.press("Tab");
    expect(await field(page).getAttribute("aria-expanded")).toBe("false");
  });

  it("leaves Enter to an input method that composes", async () => {
    const page = await open(name);
    const session = await page.context().newCDPSession(page);
    await field(page).focus();
    const composition = { selectionStart: 2, selectionEnd: 2, text: "大阪" };
    await session.send("Input.imeSetComposition", composition);
    await options(page).first().waitFor();
    const enter = { type: "keyDown", key: "Process", windowsVirtualKeyCode: 229 } as const;
    await session.send("Input.dispatchKeyEvent", enter);
    expect(await page.locator("output").textContent()).toBe("nothing");
    await session.send("Input.insertText", { text: "大阪" });
    await page.keyboard.press("Enter");
    await page.locator("output").getByText("Osaka").waitFor();
  });

  it("says why it finds nothing, or only guesses", async () => {
    const page = await open(name);
    await field(page).fill("wxzqvj");
    const status = (of: Page) => of.locator('[role="status"]').textContent();
    await expect.poll(() => status(page)).toBe("No place has this name.");
    await field(page).fill("edinborough");
    await expect.poll(() => status(page)).toMatch(/^\d+ places?, only similar$/);
    const wrong = await open(name, `service=${inject("service").url}/nowhere`);
    await field(wrong).fill("rom");
    await wrong
      .getByRole("status")
      .getByText(/HTTP 404.*baseUrl/)
      .waitFor();
    takeProblems();
  });
});
