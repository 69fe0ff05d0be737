import { readFileSync } from "node:fs";
import { build } from "esbuild";
import type { CDPSession, Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { newPage, openPage, useBrowser } from "./browser.ts";
import { waitForAnswer } from "./explorer-page.ts";

useBrowser();

/** What an input method shows letter by letter, what Enter takes, and what that finds first. */
const COMPOSITIONS = [
  ["Japanese", ["お", "おお", "おおさか", "大阪"], "大阪", "Osaka"],
  ["Chinese", ["b", "bei", "bei'jing", "北京"], "北京", "Beijing"],
  ["Korean", ["ㅂ", "부", "부ㅅ", "부산"], "부산", "Busan"],
] as const;

/** A page beside those of the service. */
const PICKER = "/picker";

const KEYS = ["Enter", "Escape", "ArrowDown", "ArrowUp"];

/** Composes a text as an input method does, and presses keys that are for the input method. */
async function compose(session: CDPSession, page: Page, steps: readonly string[]): Promise<void> {
  for (const text of steps) {
    const { length } = text;
    const selection = { selectionStart: length, selectionEnd: length };
    await session.send("Input.imeSetComposition", { text, ...selection });
    for (const key of KEYS) await page.keyboard.press(key);
  }
}

/** Counts the keys that the page got while a composition was open. */
const COUNT_KEYS = `{
  window.composingKeys = 0;
  addEventListener("keydown", ({ isComposing }) => (window.composingKeys += Number(isComposing)), true);
}`;

describe.each(COMPOSITIONS)("while an input method composes %s", (_, steps, text, city) => {
  it("no key chooses, clears or moves in the explorer, and Enter chooses afterwards", async () => {
    const page = await openPage("/");
    await waitForAnswer(page, "en");
    await page.evaluate(COUNT_KEYS);
    const session = await page.context().newCDPSession(page);
    const search = page.getByRole("combobox", { name: "Search" });
    await search.focus();
    await compose(session, page, steps);
    expect(await page.evaluate("window.composingKeys")).toBe(steps.length * KEYS.length);
    expect(await search.inputValue()).toBe(text);
    expect(await page.locator(".place").count()).toBe(0);
    const options = page.locator('[role="listbox"][aria-busy="false"] [role="option"]');
    await options.first().getByText(city, { exact: true }).waitFor();
    expect(await options.first().getAttribute("aria-selected")).toBe("true");
    await session.send("Input.insertText", { text });
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: city }).waitFor();
  });

  it("no key chooses in the picker of the package's README, and Enter chooses afterwards", async () => {
    const page = await newPage();
    const body = "<!doctype html><meta charset=utf-8><link rel=icon href=data:,><input><ol></ol>";
    await page.route(`**${PICKER}`, (route) => route.fulfill({ contentType: "text/html", body }));
    await page.goto(PICKER);
    await page.evaluate(COUNT_KEYS);
    await page.addScriptTag({ type: "module", content: await bundledPicker() });
    const session = await page.context().newCDPSession(page);
    const input = page.locator("input");
    await input.focus();
    await compose(session, page, steps);
    expect(await page.evaluate("window.composingKeys")).toBe(steps.length * KEYS.length);
    await page.locator("li").first().getByText(city).waitFor();
    for (const key of KEYS) await page.keyboard.press(key);
    expect(await input.inputValue()).toBe(text);
    await session.send("Input.insertText", { text });
    await page.keyboard.press("Enter");
    await expect.poll(() => input.inputValue()).toBe(city);
  });
});

/** The picker of the package's README, which works in the page's thread. */
async function bundledPicker(): Promise<string> {
  const readme = readFileSync("client/README.md", "utf8");
  const blocks = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, block = ""]) => block);
  const code = blocks.find((block) => block.includes("isComposing")) ?? "";
  const { outputFiles } = await build({
    stdin: {
      contents: code
        .replace("http://127.0.0.1:8787", inject("service").url)
        .replace(/^import .*$/m, OPEN_SEARCH),
      loader: "js",
      resolveDir: ".",
    },
    bundle: true,
    format: "esm",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

const OPEN_SEARCH = 'import { openSearch, takeLatest } from "./client/src/no-worker.ts";';
