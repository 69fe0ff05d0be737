import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import manifest from "../../../data/snapshot/manifest.json" with { type: "json" };
import { freePort } from "../../../test/system/running-service.ts";
import { newPage, openPage, useBrowser } from "./browser.ts";

useBrowser();

/** Serves a page without content, at an origin that is not the service's. */
const server = createServer((_, response) => {
  response.setHeader("content-type", "text/html");
  response.end(`<!doctype html><link rel="icon" href="data:," />${head}`);
});
/** What else stands in the head of the page. */
let head = "";
let origin = "";

beforeAll(async () => {
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => void server.close());

/** The README's browser client for a service, as a module that leaves its count in the page. */
async function bundledClient(service: string): Promise<string> {
  const blocks = [...readFileSync("README.md", "utf8").matchAll(/^```ts\n(.*?)^```$/gms)];
  const code = blocks.map(([, block = ""]) => block).find((block) => block.includes("connect-web"));
  const contents = `${code}\ndocument.body.dataset.count = airports.length;`;
  const { outputFiles } = await build({
    stdin: {
      contents: contents
        .replace("http://127.0.0.1:8787", service)
        .replace("locations-at-the-edge-client/service", "./gen/locations/v1/locations_pb.ts"),
      loader: "ts",
      resolveDir: ".",
    },
    bundle: true,
    format: "esm",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

it("the README's client calls by GET, and the browser answers the second call from its cache", async () => {
  const { url } = inject("service");
  const page = await openPage(origin);
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  const answers: { readonly isKept: boolean; readonly status: number }[] = [];
  session.on("Network.responseReceived", ({ response, type }) => {
    if (type !== "Preflight" && response.url.startsWith(url))
      answers.push({ isKept: response.fromDiskCache ?? false, status: response.status });
  });
  const content = await bundledClient(url);
  for (const isKept of [false, true]) {
    await page.evaluate("delete document.body.dataset.count");
    await page.addScriptTag({ type: "module", content });
    await page
      .locator(`body[data-count="${manifest.counts.airports}"]`)
      .waitFor({ state: "attached" });
    expect(answers.splice(0)).toEqual([{ isKept, status: 200 }]);
  }
});

it("the README's client takes the answer that the page has preloaded as the documentation says", async () => {
  const { url } = inject("service");
  const [, link = ""] =
    /^(<link\s+rel="preload"[^>]*>)$/m.exec(readFileSync("docs/clients.md", "utf8")) ?? [];
  head = link.replace("https://locations.example.com", url);
  const page = await newPage();
  const requested: string[] = [];
  page.on("request", (request) => {
    if (request.url().startsWith(url)) requested.push(request.url());
  });
  const unused: string[] = [];
  page.on("console", (message) => unused.push(message.text()));
  await page.goto(origin);
  await page.addScriptTag({ type: "module", content: await bundledClient(url) });
  await page
    .locator(`body[data-count="${manifest.counts.airports}"]`)
    .waitFor({ state: "attached" });
  expect(requested).toEqual([/href="([^"]*)"/.exec(head)?.[1]?.replaceAll("&amp;", "&")]);
  expect(unused).toEqual([]);
  head = "";
});
