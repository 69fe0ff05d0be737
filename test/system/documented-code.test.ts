/** The code in the README and in docs/, as it stands there, against the running service. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import manifest from "../../data/snapshot/manifest.json" with { type: "json" };
import { CALL, send } from "./http.ts";
import { signingKey } from "../../src/monitor/alert-settings.ts";
import { webhookHeaders } from "../../src/monitor/webhook.ts";
import { WEBHOOK_SECRET } from "../builders/webhook-receiver.ts";

const { url, adminToken } = inject("service");
const { counts } = manifest;

mkdirSync(".wrangler", { recursive: true });
const folder = mkdtempSync(".wrangler/readme-");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const readme = readFileSync("README.md", "utf8");
const pages = readdirSync("docs").filter((name) => name.endsWith(".md"));
const blocks = [readme, ...pages.map((name) => readFileSync(join("docs", name), "utf8"))]
  .flatMap((page) => [...page.matchAll(/^```ts\n(.*?)^```$/gms)])
  .map(([, code = ""]) => code);

/** The block of TypeScript that has a text, for this service and from a folder of its own. */
function blockWith(text: string): string {
  const found = blocks.filter((code) => code.includes(text));
  if (found.length !== 1) throw new Error(`${found.length} documented blocks have ${text}`);
  return found.join("").replaceAll("http://127.0.0.1:8787", url);
}

beforeAll(() => {
  const clients = readFileSync("docs/clients.md", "utf8");
  for (const page of [readme, clients]) {
    const [install = ""] = /^npm install .*$/m.exec(page) ?? [];
    const command = install
      .replace("http://127.0.0.1:8787", url)
      .replace("install", `install --prefix ${folder}`);
    execFileSync("sh", ["-c", command], { stdio: "pipe" });
  }
});

/** Runs a program; the JSON that it prints. */
function run(...code: readonly string[]): unknown {
  const file = join(folder, "program.ts");
  writeFileSync(file, code.join("\n"));
  const options = ["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"];
  return JSON.parse(execFileSync(process.execPath, [...options, file], { encoding: "utf8" }));
}

describe("the documented code", () => {
  it("gets the answer that the README shows", async () => {
    const [, shown = ""] = /^```text\n(\{.*?)\n…\n```$/ms.exec(readme) ?? [];
    const answer = await fetch(`${url}${CALL}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ locale: "de" }),
    });
    const beginning = shown.replaceAll("\n", "");
    expect(beginning).toContain('"AAA"');
    expect((await answer.text()).slice(0, beginning.length)).toBe(beginning);
  });

  it("reads the two quick checks, and every check with the token that npm start writes", () => {
    const tokenFile = join(folder, "token");
    writeFileSync(tokenFile, `${adminToken}\n`);
    const [, chapter = ""] = /^## Operators' routes\n.*?^```sh\n(.*?)^```$/ms.exec(readme) ?? [];
    const answers = chapter
      .replaceAll("http://127.0.0.1:8787", url)
      .replace(".wrangler/local-admin-token", tokenFile)
      .trim()
      .split("\n")
      .map((command) =>
        JSON.parse(execFileSync("sh", ["-c", command], { stdio: "pipe" }).toString()),
      );
    expect(answers).toEqual([
      expect.objectContaining({ status: expect.any(String), answers: expect.any(Object) }),
      expect.objectContaining({ status: "pass", locales: expect.any(Object) }),
      expect.objectContaining({ status: expect.any(String), checks: expect.any(Object) }),
    ]);
  });

  it("allows scripts of any origin what the page on clients says, without credentials", async () => {
    const page = readFileSync("docs/clients.md", "utf8");
    const [, chapter = ""] = /^## Browsers and CORS\n(.*?)^## /ms.exec(page) ?? [];
    const named = [...chapter.matchAll(/`(\/[^`]+)`/g)].map(([, path = ""]) => path);
    expect(named).toHaveLength(8);
    const headers = { origin: "https://example.com" };
    for (const path of [CALL, ...named]) {
      const address = path === "/search/v1" ? `${path}/ranks.json` : path;
      const answer = await fetch(`${url}${address}`, { headers });
      const allowed = path === "/admin" ? null : "*";
      expect([path, answer.headers.get("access-control-allow-origin")]).toEqual([path, allowed]);
      expect(answer.headers.has("access-control-allow-credentials")).toBe(false);
      if (allowed === null) continue;
      const exposed = answer.headers.get("access-control-expose-headers") ?? "";
      const ofCatalog = ["Catalog-Version", "Catalog-Sha256", "Content-Language", "Retry-After"];
      const readable = path === CALL ? ["ETag", ...ofCatalog] : [];
      expect(readable.filter((name) => !exposed.includes(name))).toEqual([]);
      const preflight = await send({
        method: "OPTIONS",
        path: address,
        headers: {
          ...headers,
          "access-control-request-method": "GET",
          "access-control-request-headers": "traceparent",
        },
      });
      expect(preflight.headers).toMatchObject({
        "access-control-allow-headers": "traceparent",
        "access-control-max-age": "7200",
      });
    }
  });

  it("calls the service as a browser does, and joins the lists", () => {
    expect(
      run(
        blockWith("connect-web"),
        blockWith("joinCatalog"),
        "console.log(JSON.stringify([airports.length, countries.length, regions.length, munich?.name]));",
      ),
    ).toEqual([counts.airports, counts.countries, counts.regions, "Munich"]);
  });

  it("calls the service from Node", () => {
    expect(
      run(
        'import { createClient } from "@connectrpc/connect";',
        'import { LocationsService } from "locations-at-the-edge-client/service";',
        blockWith("connect-node"),
        "const client = createClient(LocationsService, transport);",
        "const { airports } = await client.getLocationsV1({ locale: 'ja' });",
        "console.log(airports.length);",
      ),
    ).toBe(counts.airports);
  });

  it("accepts an authentic webhook message and rejects others", () => {
    const [id, body] = ["message-1", '{"text":"it fires"}'];
    const sentAt = (now: number) =>
      webhookHeaders({ id, body }, signingKey(WEBHOOK_SECRET) ?? null, now);
    const headers = sentAt(Date.now());
    const cases = [
      [body, headers, WEBHOOK_SECRET],
      [`${body} `, headers, WEBHOOK_SECRET],
      [body, { ...headers, "webhook-id": "message-2" }, WEBHOOK_SECRET],
      [body, headers, WEBHOOK_SECRET.replace("whsec_Y", "whsec_Z")],
      [body, sentAt(Date.now() - 400_000), WEBHOOK_SECRET],
      [body, webhookHeaders({ id, body }, null, Date.now()), WEBHOOK_SECRET],
    ];
    expect(
      run(
        blockWith("new Webhook(secret)"),
        "const isAuthentic = (...message) => { try { verify(...message); return true; } catch { return false; } };",
        `console.log(JSON.stringify(${JSON.stringify(cases)}.map((each) => isAuthentic(...each))));`,
      ),
    ).toEqual([true, false, false, false, false, false]);
  });
});
