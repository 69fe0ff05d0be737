import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Clients, REQUESTS } from "../chaos/clients.ts";
import { NO_FAULTS } from "../chaos/fault-plan.ts";
import type { Injected } from "../chaos/faulty-calls.ts";
import { IsolateHeap } from "../chaos/isolate-heap.ts";
import { Report } from "../chaos/report.ts";
import type { Service } from "../chaos/service.ts";
import { freePort } from "../system/running-service.ts";
import { hasEnded, KilledService } from "./killed-service.ts";

/** Bounds a hang only. */
const HANG_MS = 6_000_000;
const CLIENTS = 50;
/** Most that an isolate of Cloudflare Workers may hold. */
const ISOLATE_MB = 128;
/** The form of the call whose bodies are the largest, and how large they are at least. */
const LARGEST = "application/json";
const LARGEST_MB = 3;

let killed: KilledService;
let service: Service;

beforeAll(async () => {
  killed = await KilledService.build();
  ({ service } = killed);
  await killed.restart();
  const run = await killed.runWhen(await killed.queue({ source: "embedded" }), hasEnded);
  if (run.state !== "succeeded") throw new Error(JSON.stringify(run));
});

afterEach(() => service.setPlan(NO_FAULTS));
afterAll(() => killed.remove());

/** As many clients at once, which all want the same. */
function largest(clients: number): Promise<number[]> {
  return Promise.all(Array.from({ length: clients }, () => killed.ask(LARGEST)));
}

/** Clients that want every form and coding in two locales at once. */
async function everyForm() {
  const requests = REQUESTS.filter(({ locale, isTimed }) => /^(en|de)$/.test(locale) && !isTimed);
  const report = new Report();
  const clients = new Clients(service, report);
  await Promise.all(requests.map((request) => clients.call(request)));
  clients.close();
  expect(report.violations).toEqual([]);
  expect(clients.checked).toBeGreaterThan(0);
}

describe("an isolate that holds nothing", () => {
  it("serves from R2 while KV never answers", async () => {
    await service.setPlan({ seed: 1, rates: { kv: { hang: 1 } }, hangMs: HANG_MS });
    await killed.restart();
    expect(await killed.ask()).toBe(1);
    await service.setPlan(NO_FAULTS);
    expect(await killed.ask(LARGEST)).toBe(1);
  });

  it("serves what it holds while KV never answers, though it looks for newer at each request", async () => {
    await killed.restart(undefined, { MANIFEST_FRESH_MS: "0" });
    expect(await killed.ask()).toBe(1);
    await service.setPlan({ seed: 1, rates: { kv: { hang: 1 } }, hangMs: HANG_MS });
    expect(await killed.ask()).toBe(1);
  });

  it(`answers ${CLIENTS} clients at once out of one read of each part`, async () => {
    const { kv } = await killed.state();
    const { segments = [] } = kv?.locales["de"]?.bodies.json.identity ?? {};
    const parts = segments.filter((segment) => "blob" in segment).length;
    await service.setPlan({ seed: 1, rates: { kv: { slow: 1 } } });
    await killed.restart();
    expect(new Set(await largest(CLIENTS))).toEqual(new Set([1]));
    const { times } = (await service.control("injected")) as Injected; // our worker
    const reads = times["kv get slow"] ?? 0;
    expect(reads).toBeGreaterThan(parts);
    expect(reads).toBeLessThanOrEqual(2 * (1 + parts)); // once more where the machine is slow
  });

  it.each([
    ["every form and coding in two locales", everyForm],
    [`the largest body, ${CLIENTS} times`, () => largest(CLIENTS)],
  ])("holds less than an isolate may while it reads %s", async (_, answer) => {
    const inspectorPort = await freePort();
    await killed.restart({ inspectorPort });
    const heap = await IsolateHeap.open(inspectorPort, "chaos");
    const beforeMb = await heap.heldMb();
    const peakMb = await heap.peakMbDuring(answer());
    heap.close();
    expect(peakMb).toBeGreaterThan(beforeMb + LARGEST_MB);
    expect(peakMb).toBeLessThan(ISOLATE_MB);
  });
});
