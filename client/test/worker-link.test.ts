import { describe, expect, it } from "vitest";
import { unpackCatalog } from "../src/catalog.ts";
import { catalogOf } from "../src/handle.ts";
import { openRemote } from "../src/worker-link.ts";
import type { LocationsCatalog, WorkerPort } from "../src/api.ts";
import type { FromWorker, State, ToWorker } from "../src/calls.ts";

/** A worker that answers as a test wants. */
class FakeWorker implements WorkerPort {
  readonly received: ToWorker[] = [];
  readonly #target = new EventTarget();
  isTerminated = false;

  postMessage(message: unknown): void {
    this.received.push(message as ToWorker);
  }

  addEventListener(type: string, listener: (event: Event) => void): void {
    this.#target.addEventListener(type, listener);
  }

  terminate(): void {
    this.isTerminated = true;
  }

  tell(data: FromWorker): void {
    this.#target.dispatchEvent(new MessageEvent("message", { data }));
  }

  fail(message?: string): void {
    this.#target.dispatchEvent(Object.assign(new Event("error"), message && { message }));
  }
}

const SOURCE = { baseUrl: "https://locations.example.com", locale: "de" };

/** As the door of browsers does. */
async function openWith(startOwnWorker: () => WorkerPort): Promise<LocationsCatalog> {
  const page = "https://www.example.com/";
  const core = await openRemote("open", SOURCE, { page, startOwnWorker });
  return catalogOf(core, async () => unpackCatalog(await core.call("pack", null)));
}

function startOpening(worker: FakeWorker): Promise<LocationsCatalog> {
  return openWith(() => worker);
}

function stateOf(version: number): State {
  return { version, language: "de", lookedAt: 0, lastError: null };
}

async function openIn(worker: FakeWorker): Promise<LocationsCatalog> {
  const opening = startOpening(worker);
  await expect.poll(() => worker.received.length).toBe(1);
  worker.tell({ kind: "answer", id: 1, value: undefined });
  return opening;
}

describe("a catalog in a worker", () => {
  it("gives each call its own answer, in whatever order they come", async () => {
    const worker = new FakeWorker();
    const catalog = await openIn(worker);
    const [first, second] = [catalog.search("a"), catalog.search("ab", { limit: 3 })];
    expect(worker.received).toEqual([
      { id: 1, catalog: 1, call: "open", argument: SOURCE },
      { id: 2, catalog: 1, call: "search", argument: { typed: "a", limit: 10 } },
      { id: 3, catalog: 1, call: "search", argument: { typed: "ab", limit: 3 } },
    ]);
    worker.tell({ kind: "answer", id: 3, value: ["of ab"] });
    worker.tell({ kind: "answer", id: 2, value: ["of a"] });
    expect(await Promise.all([first, second])).toEqual([["of a"], ["of ab"]]);
  });

  it("asks for the nearest airports with the numbers alone of a position", async () => {
    const worker = new FakeWorker();
    const catalog = await openIn(worker);
    const found = [
      catalog.nearest(Object.assign({ lat: 47, lon: 8 }, { toJSON: () => "" })),
      catalog.nearest({ lat: 47, lon: 8 }, { limit: 3 }),
    ];
    expect(worker.received.slice(1).map(({ argument }) => argument)).toEqual([
      { position: { lat: 47, lon: 8 }, limit: 10, withinKm: Infinity },
      { position: { lat: 47, lon: 8 }, limit: 3, withinKm: Infinity },
    ]);
    catalog.close();
    await Promise.allSettled(found);
  });

  it("throws what the worker has failed with", async () => {
    const worker = new FakeWorker();
    const refreshed = (await openIn(worker)).refresh();
    const failure = { code: "unavailable", message: "not now", retryAfterSeconds: 5 };
    worker.tell({ kind: "failure", id: 2, failure });
    await expect(refreshed).rejects.toMatchObject({ name: "CatalogError", ...failure });
  });

  it("knows the version and the language of the worker's, and tells of a change", async () => {
    const worker = new FakeWorker();
    const catalog = await openIn(worker);
    const seen: string[] = [];
    const end = catalog.onChange(() => seen.push(`${catalog.version} ${catalog.language}`));
    worker.tell({ kind: "change", catalog: 1, state: stateOf(2) });
    end();
    worker.tell({ kind: "change", catalog: 1, state: stateOf(3) });
    expect(seen).toEqual(["2 de"]);
    expect(catalog.version).toBe(3);
  });

  it("ends the worker when it cannot be opened", async () => {
    const worker = new FakeWorker();
    const opening = startOpening(worker);
    await expect.poll(() => worker.received.length).toBe(1);
    worker.fail();
    await expect(opening).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/could not be loaded .*try again.*with Vite before 8/),
    });
    expect(worker.isTerminated).toBe(true);
  });

  it("throws the message of an error in the worker", async () => {
    const worker = new FakeWorker();
    const found = (await openIn(worker)).search("a");
    worker.fail("out of memory");
    await expect(found).rejects.toThrow("the worker has failed (out of memory)");
  });

  it("leaves no call waiting when it is closed", async () => {
    const worker = new FakeWorker();
    const catalog = await openIn(worker);
    const found = catalog.search("a");
    catalog.close();
    await expect(found).rejects.toThrow("closed");
    await expect(catalog.search("b")).rejects.toThrow("closed");
    expect(worker.isTerminated).toBe(true);
  });

  it("shares its worker with the others that the same function would start", async () => {
    const workers: FakeWorker[] = [];
    const startWorker = () => {
      const worker = new FakeWorker();
      workers.push(worker);
      return worker;
    };
    const opening = [1, 2].map(() => openWith(startWorker));
    await expect.poll(() => workers[0]?.received.length).toBe(2);
    const [worker] = workers;
    for (const id of [1, 2]) worker?.tell({ kind: "answer", id, value: undefined });
    const [first, second] = await Promise.all(opening);
    worker?.tell({ kind: "change", catalog: 2, state: stateOf(7) });
    expect([first?.version, second?.version]).toEqual([0, 7]);
    first?.close();
    expect(worker?.isTerminated).toBe(false);
    expect(worker?.received.at(-1)).toMatchObject({ catalog: 1, call: "close" });
    second?.close();
    expect(worker?.isTerminated).toBe(true);
    const again = openWith(startWorker);
    await expect.poll(() => workers.length).toBe(2);
    workers[1]?.fail();
    await expect(again).rejects.toThrow("could not be loaded");
  });
});
