import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createBackupStore } from "../../../src/storage/backup-store.ts";
import { createCatalogStore } from "../../../src/storage/catalog-store.ts";
import { createDatabaseCopy } from "../../../src/storage/database-copy.ts";
import { createDropBox, createSourceArchive } from "../../../src/storage/source-archive.ts";
import { StoreError } from "../../../src/platform/deadline.ts";
import { aManifest } from "../../builders/manifest.ts";
import { A_CLAIM } from "../../builders/memory-catalog-store.ts";

const SHA256 = "a".repeat(64);
const BYTES = new Uint8Array(3);

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const never = () => new Promise<never>(() => {});

const refuse = () => Promise.reject(new Error("503"));

/** Bindings of which those calls never answer, or refuse, that are named so, such as `r2 put`. */
function bindings(stuck: string, instead: () => Promise<never> = never) {
  const answer = (call: string) => (call === stuck ? instead : async () => null);
  const object = { size: 3, arrayBuffer: answer("r2 body"), body: { cancel: async () => {} } };
  const r2 = {
    put: stuck === "r2 put" ? instead : async () => object,
    head: answer("r2 head"),
    delete: answer("r2 delete"),
    get: stuck === "r2 get" ? instead : async () => object,
    list: answer("r2 list"),
  };
  const kv = { put: answer("kv put"), delete: answer("kv delete") };
  // What is asked of them here.
  const d1 = { prepare: () => ({ all: answer("d1 all") }) };
  return {
    r2: r2 as unknown as R2Bucket,
    kv: kv as unknown as KVNamespace,
    d1: d1 as unknown as D1Database,
  };
}

type Bindings = ReturnType<typeof bindings>;

const catalog = ({ kv, r2 }: Bindings) => createCatalogStore(kv, r2, A_CLAIM);

const CALLS: readonly [string, string, number, (stores: Bindings) => Promise<unknown>][] = [
  ["a blob written", "r2 put", 30_000, (stores) => catalog(stores).writeBlob(SHA256, BYTES)],
  ["a blob written", "kv put", 30_000, (stores) => catalog(stores).writeBlob(SHA256, BYTES)],
  ["blobs deleted", "kv delete", 30_000, (stores) => catalog(stores).deleteBlobs([SHA256])],
  ["blobs deleted", "r2 delete", 30_000, (stores) => catalog(stores).deleteBlobs([SHA256])],
  ["a generation kept", "r2 put", 30_000, (stores) => catalog(stores).writeGeneration(aManifest())],
  ["generations deleted", "r2 delete", 30_000, (stores) => catalog(stores).deleteGenerations([1])],
  ["a manifest written", "r2 put", 30_000, (stores) => catalog(stores).writeManifest(aManifest())],
  ["a manifest written", "kv put", 30_000, (stores) => catalog(stores).writeManifest(aManifest())],
  ["the owner asked for", "r2 head", 3_000, (stores) => catalog(stores).checkOwner()],
  ["a file archived", "r2 put", 60_000, ({ r2 }) => createSourceArchive(r2).write(SHA256, BYTES)],
  ["a dropped file found", "r2 head", 30_000, ({ r2 }) => createDropBox(r2).find("airports.csv")],
  ["a backup written", "r2 put", 60_000, ({ r2 }) => createBackupStore(r2).writeManifest("b", "")],
  ["backups listed", "r2 list", 10_000, ({ r2 }) => createBackupStore(r2).folders()],
  [
    "objects listed",
    "r2 list",
    10_000,
    ({ r2 }) => createBackupStore(r2).objects()[Symbol.asyncIterator]().next(),
  ],
  ["tables listed", "d1 all", 60_000, ({ d1 }) => createDatabaseCopy(d1).tables()],
  ["a dropped file read", "r2 body", 30_000, ({ r2 }) => createDropBox(r2).read("airports.csv")],
];

describe("a store that never answers", () => {
  it.each(CALLS)("delays a call by a bounded time: to have %s, %s", async (_, stuck, ms, call) => {
    const ended = vi.fn<(how: unknown) => void>();
    void call(bindings(stuck)).then(ended, ended);
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ name: "StoreTimeout" }),
    );
  });
});

describe("a store that refuses", () => {
  it.each(CALLS)(
    "leads to a StoreError, not to a bug: to have %s, %s",
    async (_, stuck, __, call) => {
      const refused = call(bindings(stuck, refuse));
      await expect(refused).rejects.toBeInstanceOf(StoreError);
      await expect(refused).rejects.toMatchObject({
        name: "StoreError",
        message: expect.stringMatching(/.+: Error: 503$/),
        cause: new Error("503"),
      });
    },
  );
});
