import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { fromJson } from "@bufbuild/protobuf";
import { build } from "esbuild";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import { CALL } from "../system/http.ts";
import { openPage, takeProblems, useBrowser } from "./browser.ts";

useBrowser();

/** The example's page and its bundle, at an origin that is not the service's. */
const server = createServer();
let origin: string;

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: ["examples/browser/main.js"],
    bundle: true,
    format: "esm",
    write: false,
  });
  const files = new Map([
    ["/", { type: "text/html", text: readFileSync("examples/browser/index.html", "utf8") }],
    ["/bundle.js", { type: "text/javascript", text: outputFiles[0]?.text ?? "" }],
  ]);
  server.on("request", ({ url = "" }, response) => {
    const file = files.get(url);
    response.writeHead(file === undefined ? 204 : 200, { "content-type": file?.type ?? "" });
    response.end(file?.text);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  origin = `http://127.0.0.1:${address.port}`;
});

afterAll(() => void server.close());

/** The last airport in a language, and what the example says of it. */
async function expected(locale: string): Promise<{ readonly iata: string; readonly text: string }> {
  const answer = await fetch(`${inject("service").url}${CALL}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ locale }),
  });
  const { airports, regions } = fromJson(LocationsResponseSchema, await answer.json());
  const { iata = "", name = "" } = airports.at(-1) ?? {};
  const names = regions
    .filter(({ airportIataCodes }) => airportIataCodes.includes(iata))
    .map(({ nameLocalized }) => nameLocalized);
  return { iata, text: `${airports.length} airports. ${iata}: ${name} (${names.join(", ")})` };
}

/** Fills the form in, sends it and gives what is shown. */
async function ask(page: Page, locale: string, iata: string): Promise<string | null> {
  await page.getByLabel("Service").fill(inject("service").url);
  await page.getByLabel("Locale").fill(locale);
  await page.getByLabel("IATA code").fill(iata);
  await page.getByRole("button", { name: "Ask" }).click();
  // The answer stands there once the sign of waiting has gone.
  const output = page.locator("output").filter({ hasText: /[^…\s]/ });
  await output.waitFor();
  return output.textContent();
}

describe("examples/browser, at an origin of its own,", () => {
  it.each(["de", "ja"])("shows an airport and its regions in the locale %s", async (locale) => {
    const { iata, text } = await expected(locale);
    const page = await openPage(origin);
    expect(await ask(page, locale, iata)).toBe(text);
  });

  it("asks over GET, and a second time not at all: the browser has kept the answer", async () => {
    const { iata, text } = await expected("de");
    const page = await openPage(origin);
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    const answers: { readonly isKept: boolean; readonly status: number }[] = [];
    session.on("Network.responseReceived", ({ response, type }) => {
      if (type !== "Preflight" && response.url.startsWith(inject("service").url))
        answers.push({ isKept: response.fromDiskCache ?? false, status: response.status });
    });
    expect(await ask(page, "de", iata)).toBe(text);
    expect(await ask(page, "de", iata)).toBe(text);
    expect(answers).toEqual([
      { isKept: false, status: 200 },
      { isKept: true, status: 200 },
    ]);
  });

  it("shows the reason of a mistake", async () => {
    const page = await openPage(origin);
    expect(await ask(page, "not a tag", "MUC")).toMatch(
      /^\[invalid_argument\] .*use a tag such as/,
    );
    expect(takeProblems().join()).toContain("400");
  });
});
