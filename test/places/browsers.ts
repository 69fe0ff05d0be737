/** Opens pages in the browsers of the system: Chromium, Firefox and WebKit. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { chromium } from "playwright-core";
import { findBrowser, findProgram } from "../find-program.ts";
import { freePort } from "../system/running-service.ts";

export type BrowserName = "Chromium" | "Firefox" | "WebKit";

/** A browser with one page. */
export interface OpenBrowser {
  readonly goto: (url: string) => Promise<void>;
  /** The value of an expression in the page. */
  readonly evaluate: (expression: string) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

/** Ends what hangs. */
const START_MS = 60_000;

export function openBrowser(name: BrowserName): Promise<OpenBrowser> {
  switch (name) {
    case "Chromium":
      return openChromium();
    case "Firefox":
      return openFirefox();
    case "WebKit":
      return openWebKit();
    default:
      return name satisfies never;
  }
}

async function openChromium(): Promise<OpenBrowser> {
  const browser = await chromium.launch({
    executablePath: findBrowser() ?? "chromium",
    args: ["--no-sandbox"],
  });
  const page = await browser.newPage();
  return {
    goto: async (url) => void (await page.goto(url)),
    evaluate: (expression) => page.evaluate(expression),
    close: () => browser.close(),
  };
}

/** By WebDriver BiDi, which Firefox speaks itself. */
async function openFirefox(): Promise<OpenBrowser> {
  const port = await freePort();
  const profile = mkdtempSync(join(tmpdir(), "locations-firefox-"));
  const args = ["--headless", "--profile", profile, `--remote-debugging-port=${port}`];
  const firefox = spawn(find("firefox-esr", "firefox"), args, { stdio: "ignore" });
  const socket = await retried(async () => {
    const opening = new WebSocket(`ws://127.0.0.1:${port}/session`);
    await new Promise((resolve, reject) => {
      opening.addEventListener("open", resolve, { once: true });
      opening.addEventListener("error", reject, { once: true });
    });
    return opening;
  });
  let calls = 0;
  const call = (method: string, params: object): Promise<BidiResult> =>
    new Promise((resolve, reject) => {
      const id = ++calls;
      const hear = ({ data }: MessageEvent) => {
        const answer = JSON.parse(String(data)) as BidiAnswer;
        if (answer.id !== id) return;
        socket.removeEventListener("message", hear);
        if (answer.result === undefined) reject(new Error(answer.message));
        else resolve(answer.result);
      };
      socket.addEventListener("message", hear);
      socket.send(JSON.stringify({ id, method, params }));
    });
  await call("session.new", { capabilities: {} });
  const { contexts = [] } = await call("browsingContext.getTree", {});
  const context = contexts[0]?.context;
  return {
    goto: async (url) =>
      void (await call("browsingContext.navigate", { context, url, wait: "complete" })),
    async evaluate(expression) {
      const target = { context };
      const { result } = await call("script.evaluate", { expression, target, awaitPromise: true });
      return result?.value;
    },
    async close() {
      await stop(firefox);
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

interface BidiResult {
  readonly contexts?: readonly { readonly context: string }[];
  readonly result?: { readonly value?: unknown };
}

interface BidiAnswer {
  readonly id: number;
  readonly result?: BidiResult;
  readonly message?: string;
}

/** The browser of WebKitGTK, by its WebDriver. It wants a display. */
async function openWebKit(): Promise<OpenBrowser> {
  const port = await freePort();
  const display = `:${port}`;
  const screen = spawn(find("Xvfb"), [display, "-screen", "0", "1280x900x24", "-nolisten", "tcp"], {
    stdio: "ignore",
  });
  await retried(async () => {
    if (!existsSync(`/tmp/.X11-unix/X${port}`)) throw new Error("Xvfb has no display");
  });
  const driver = spawn(find("WebKitWebDriver"), [`--port=${port}`], {
    // Its own sandbox wants rights that containers and root do not have.
    env: { ...process.env, DISPLAY: display, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1" },
    stdio: "ignore",
  });
  const post = async (path: string, body: object) => {
    const url = `http://127.0.0.1:${port}/session${path}`;
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
    const { value }: { readonly value: { readonly sessionId: string } } = await answer.json();
    if (!answer.ok) throw new Error(JSON.stringify(value));
    return value;
  };
  const browserOptions = { binary: MINI_BROWSER, args: ["--automation"] };
  const capabilities = { alwaysMatch: { "webkitgtk:browserOptions": browserOptions } };
  const { sessionId } = await retried(() => post("", { capabilities }));
  return {
    goto: async (url) => void (await post(`/${sessionId}/url`, { url })),
    evaluate: (expression) =>
      post(`/${sessionId}/execute/sync`, { script: `return ${expression}`, args: [] }),
    async close() {
      await fetch(`http://127.0.0.1:${port}/session/${sessionId}`, { method: "DELETE" });
      await stop(driver);
      await stop(screen);
    },
  };
}

const MINI_BROWSER = "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser";

function find(...names: readonly string[]): string {
  const found = findProgram(...names);
  if (found === undefined) throw new Error(`${names.join(" or ")} is missing: install it`);
  return found;
}

async function retried<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + START_MS;
  for (;;) {
    try {
      return await work();
    } catch (cause) {
      if (performance.now() > until) throw cause;
      await delay(200);
    }
  }
}

/** Ends a process. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, "exit");
}
