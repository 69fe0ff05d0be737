import { beforeEach, describe, expect, it } from "vitest";
import { blobsOf } from "../../../src/parts/manifest.ts";
import { blobKey } from "../../../src/storage/keys.ts";
import { PipelineWorld } from "../../builders/pipeline-world.ts";
import { aSnapshot, moreAirports } from "../../builders/small-snapshot.ts";

let world: PipelineWorld;

describe("a run over a published version that has lost blobs", () => {
  const loseBlobs = (...replicas: readonly ("kv" | "r2")[]) => {
    for (const replica of replicas)
      for (const key of world.store[replica].keys())
        if (key.startsWith(blobKey(""))) world.store[replica].delete(key);
  };
  const isWhole = () =>
    [...(world.current === null ? [] : blobsOf(world.current))].every((sha256) =>
      [world.store.kv, world.store.r2].every((replica) => replica.has(blobKey(sha256))),
    );
  const renameAirport = () => {
    const [first = {}, ...others] = moreAirports(20);
    world.snapshot = aSnapshot({ airports: [{ ...first, name: "Kloten" }, ...others] });
  };

  beforeEach(async () => {
    world = new PipelineWorld();
    world.snapshot = aSnapshot({ airports: moreAirports(20) });
    await world.runToEnd();
  });

  it.each([["r2"], ["kv"], ["r2", "kv"]] as const)(
    "stores them again in mode full if the content is the same, from %s %s",
    async (...replicas) => {
      loseBlobs(...replicas);
      expect((await world.runToEnd("full")).outcome).toBe("unchanged");
      expect(isWhole()).toBe(true);
      expect(world.run.counts?.airports).toMatchObject({ kept: 20, added: 0, removed: 0 });
    },
  );

  it("stores them again if both have lost them, also in mode incremental", async () => {
    loseBlobs("r2", "kv");
    expect((await world.runToEnd()).outcome).toBe("unchanged");
    expect(isWhole()).toBe(true);
  });

  it("stores nothing in mode incremental while a store does not answer, which may have them", async () => {
    loseBlobs("r2", "kv");
    world.store.before = (call) => {
      if (call.startsWith("kv get catalog/blob/")) throw new Error("no connection");
    };
    expect((await world.runToEnd()).outcome).toBe("unchanged");
    expect(isWhole()).toBe(false);
  });

  it("compares the candidate with the copy in KV if R2 has lost its own", async () => {
    loseBlobs("r2");
    renameAirport();
    expect((await world.runToEnd("full")).outcome).toBe("published");
    expect(world.run.counts?.airports).toMatchObject({ kept: 20, added: 0, changed: 1 });
    expect(isWhole()).toBe(true);
  });

  it("publishes another content if both have lost the current one", async () => {
    loseBlobs("r2", "kv");
    renameAirport();
    expect((await world.runToEnd("full")).outcome).toBe("published");
    expect(world.run.counts).toBeNull();
    expect(isWhole()).toBe(true);
  });

  it("waits if R2 has lost its copy and KV does not answer", async () => {
    loseBlobs("r2");
    renameAirport();
    world.store.before = (call) => {
      if (call.startsWith("kv get")) throw new Error("no connection");
    };
    await expect(world.runToEnd("full")).rejects.toThrow("no connection");
    expect(world.checkpoint.stage).toBe("guard");
  });
});
