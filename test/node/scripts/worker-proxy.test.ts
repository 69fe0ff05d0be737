import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkerProxy } from "../../../scripts/worker-proxy.ts";

const MINIFLARE = "node_modules/miniflare/dist/src";
const CLOSED = "The routes of the development server are closed.\n";
/** Here, nothing runs. */
const NO_WORKER = "a.ts:1: no Worker\n";

const proxy = createWorkerProxy(() => Promise.reject(new Error(NO_WORKER.trim())));
let port: number;
beforeAll(async () => {
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  ({ port } = proxy.address() as AddressInfo); // it listens on a port
});
afterAll(() => void proxy.close());

/** The path is sent as it is. */
async function call(path: string, { method = "GET", headers = {} } = {}) {
  const sent = request({ host: "127.0.0.1", port, path, method, headers, agent: false }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage]; // the event's signature
  return { status: answer.statusCode, body: await text(answer) };
}

/** The paths beside the Worker's that stand anywhere in the code of Miniflare. */
function miniflarePaths(): string[] {
  const files = readdirSync(MINIFLARE, { recursive: true, encoding: "utf8" });
  const found = files
    .filter((name) => name.endsWith(".js"))
    .flatMap((name) => [
      ...readFileSync(join(MINIFLARE, name), "utf8").matchAll(
        /(?<=["'`])\/(?:cdn-cgi|__)[\w/.-]*(?=["'`?$])/g,
      ),
    ]);
  return [...new Set(found.map(([path]) => path))].toSorted();
}

/** Each read or changes something of a running service, or would with a binding that this one lacks. */
const PATHS = [
  "/__cf_local/imagedelivery",
  "/__cf_local/imageupload",
  "/__cf_local/stream",
  "/__local_artifacts__",
  "/cdn-cgi/",
  "/cdn-cgi/local/email",
  "/cdn-cgi/local/explorer",
  "/cdn-cgi/local/explorer/api",
  "/cdn-cgi/local/platform-proxy",
  "/cdn-cgi/local/r2/public",
  "/cdn-cgi/local/r2/s3",
  "/cdn-cgi/local/scheduled",
  "/cdn-cgi/styles/cf.errors.ie.css",
];

it("the table has every path of the installed Miniflare", () => {
  expect(miniflarePaths()).toEqual(PATHS);
});

describe.each([
  ["a program on this machine", {}],
  ["a page of another origin", { origin: "https://evil.example" }],
  ["an image of another site", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }],
  ["a name that was rebound to this machine", { host: "evil.example" }],
  ["who knows Miniflare's headers", { "mf-original-url": "http://127.0.0.1/", "mf-op": "GET" }],
])("nothing of Miniflare's answers %s", (_, headers) => {
  it.each(PATHS.flatMap((path) => [path, `${path}/api?cron=*`, `/a/..${path}`, `//a/..${path}`]))(
    "%s",
    async (path) => {
      for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]) {
        const { status, body } = await call(path, { method, headers });
        expect({ status, body }).toEqual({ status: 404, body: method === "HEAD" ? "" : CLOSED });
      }
    },
  );
});

it.each(["/", "/admin/cdn-cgi/", "/cdn-cgis/", "/%63dn-cgi/", "/?/cdn-cgi/", "/_headers"])(
  "%s is the Worker's, and the answer says why it does not run",
  async (path) => {
    expect(await call(path)).toEqual({ status: 503, body: NO_WORKER });
  },
);

it.each(["http://[/", "cdn-cgi", "http:///"])("the target %s is refused", async (path) => {
  expect(await call(path)).toMatchObject({ status: 400 });
});
