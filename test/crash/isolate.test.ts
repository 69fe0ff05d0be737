import { afterAll, beforeAll, expect, it } from "vitest";
import { Clients, REQUESTS } from "../chaos/clients.ts";
import { IsolateHeap } from "../chaos/isolate-heap.ts";
import { Report } from "../chaos/report.ts";
import { freePort } from "../system/running-service.ts";
import { hasEnded, KilledService } from "./killed-service.ts";

const CLIENTS = 50;
/** Most that an isolate of Cloudflare Workers may hold. */
const ISOLATE_MB = 128;
/** The form of the call whose bodies are the largest, and how large they are at least. */
const LARGEST = "application/json";
const LARGEST_MB = 3;

let killed: KilledService;

beforeAll(async () => {
  killed = await KilledService.build();
  await killed.restart();
  const run = await killed.runWhen(await killed.queue({ source: "embedded" }), hasEnded);
  if (run.state !== "succeeded") throw new Error(JSON.stringify(run));
});

afterAll(() => killed.remove());

/** As many clients at once, which all want the same. */
function largest(clients: number): Promise<number[]> {
  return Promise.all(Array.from({ length: clients }, () => killed.ask(LARGEST)));
}

/** Clients that want every form and coding in two locales at once. */
async function everyForm() {
  const requests = REQUESTS.filter(({ locale, isTimed }) => /^(en|de)$/.test(locale) && !isTimed);
  const report = new Report();
  const clients = new Clients(killed.service, report);
  await Promise.all(requests.map((request) => clients.call(request)));
  clients.close();
  expect(report.violations).toEqual([]);
  expect(clients.checked).toBeGreaterThan(0);
}

it.each([
  ["every form and coding in two locales", everyForm],
  [`the largest body, ${CLIENTS} times`, () => largest(CLIENTS)],
])("an isolate that holds nothing holds less than it may while it reads %s", async (_, answer) => {
  const inspectorPort = await freePort();
  await killed.restart({ inspectorPort });
  const heap = await IsolateHeap.open(inspectorPort, "chaos");
  const beforeMb = await heap.heldMb();
  const peakMb = await heap.peakMbDuring(answer());
  heap.close();
  expect(peakMb).toBeGreaterThan(beforeMb + LARGEST_MB);
  expect(peakMb).toBeLessThan(ISOLATE_MB);
});
