/** What stands between browsers and the service, when what it has kept is no longer fresh. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { PackagedServer } from "../builders/packaged-server.ts";
import { freePort } from "../system/running-service.ts";
import { CALL, sha256 } from "../system/http.ts";
import { AgingProxy, FRESH_MS } from "./aging-proxy.ts";
import { FRONTS } from "./shared-cache.ts";

const { url: service } = inject("service");
/** Of Chromium and Firefox over HTTPS, of both over HTTP, and of a program. */
const ACCEPTED = ["gzip, deflate, br, zstd", "gzip, deflate", "identity"];
const DECODE: { readonly [coding: string]: (bytes: Buffer) => Buffer } = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  identity: (bytes) => bytes,
};

const QUERIES = {
  proto: "encoding=proto&base64=1&message=CgJkZQ",
  json: `encoding=json&message=${encodeURIComponent('{"locale":"de"}')}`,
};
const FORMS = ["proto", "json"] as const satisfies readonly (keyof typeof QUERIES)[];

/** A call for German. */
function callUrl(origin: string, form: keyof typeof QUERIES): string {
  return `${origin}${CALL}?connect=v1&${QUERIES[form]}`;
}

/** SHA-256 of what the service answers. */
async function hashOf(form: keyof typeof QUERIES): Promise<string> {
  const answer = await fetch(callUrl(service, form));
  return sha256(new Uint8Array(await answer.arrayBuffer()));
}

async function ask(url: string, headers: { readonly [name: string]: string }) {
  const asked = request(url, { headers });
  asked.end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage]; // the event's signature
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) };
}

async function aging(): Promise<AgingProxy> {
  const proxy = await AgingProxy.start(service);
  onTestFinished(() => proxy.stop());
  return proxy;
}

/** What each hears from the service at a second request after a while, and gives to a browser that reloads. */
describe.each([
  ["nginx", 304, 304],
  ["varnish", 304, 304],
  // It gives the whole body to whoever reloads.
  ["squid", 304, 200],
  // It does not revalidate.
  ["haproxy", 200, 304],
])("%s", (name, heard, given) => {
  it.each(FORMS.flatMap((form) => ACCEPTED.map((accepted) => [form, accepted] as const)))(
    "gives the right %s to whoever accepts %s",
    async (form, accepted) => {
      const proxy = await aging();
      const prepare = FRONTS[name];
      if (prepare === undefined) throw new Error(`there is no ${name}`);
      const front = await PackagedServer.start(prepare, proxy.url, await freePort());
      onTestFinished(() => front.stop());
      const url = callUrl(front.url, form);
      const hash = await hashOf(form);
      const headers = { "accept-encoding": accepted };
      proxy.statuses.length = 0;

      const first = await ask(url, headers);
      await sleep(2 * FRESH_MS);
      const second = await ask(url, headers);
      expect(proxy.statuses).toEqual([200, heard]);
      const known = { ...headers, "if-none-match": second.headers.etag ?? "" };
      const third = await ask(url, { ...known, "cache-control": "max-age=0" });
      expect([first.status, second.status, third.status]).toEqual([200, 200, given]);

      // A cache applies the headers of a 304 to the body that it has.
      const renewed = { ...second.headers, ...third.headers };
      const reloaded = given === 200 ? third : { headers: renewed, body: second.body };
      for (const { headers: named, body } of [first, second, reloaded]) {
        const whole = DECODE[named["content-encoding"] ?? "identity"]?.(body);
        expect(whole && sha256(whole)).toBe(hash);
        expect(named["content-type"]).toBe(`application/${form}`);
      }
    },
  );
});

const PYTHON = `import hashlib, json, sys, time, requests
from cachecontrol import CacheControl
session = CacheControl(requests.Session())
def ask():
    answer = session.get(sys.argv[1], headers={"Accept-Encoding": sys.argv[2]})
    return [answer.status_code, hashlib.sha256(answer.content).hexdigest()]
first = ask()
time.sleep(${(2 * FRESH_MS) / 1000})
print(json.dumps([first, ask()]))
`;

describe("requests with CacheControl", () => {
  it.each(FORMS.flatMap((form) => ACCEPTED.map((accepted) => [form, accepted] as const)))(
    "reads the right %s again, where it accepts %s",
    async (form, accepted) => {
      const proxy = await aging();
      const hash = await hashOf(form);
      const args = ["-c", PYTHON, callUrl(proxy.url, form), accepted];
      const { stdout } = await promisify(execFile)("/usr/bin/python3", args);
      expect(JSON.parse(stdout)).toEqual([
        [200, hash],
        [200, hash],
      ]);
      expect(proxy.statuses).toEqual([200, 304]);
    },
  );
});
