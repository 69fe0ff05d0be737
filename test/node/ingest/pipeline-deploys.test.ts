import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import { type IngestCheckpoint, FIRST_INGEST_CHECKPOINT } from "../../../src/ingest/checkpoint.ts";
import type { Stage } from "../../../src/schemas/run-words.ts";
import { embeddedUpstream } from "../../../src/sources/upstream.ts";
import { tryReadBody } from "../../../src/storage/catalog-store.ts";
import { bodiesOf } from "../../builders/parts.ts";
import { PipelineWorld } from "../../builders/pipeline-world.ts";
import { aSnapshot } from "../../builders/small-snapshot.ts";

/** Does the steps of a run until it stands before a stage. */
async function runUntil(world: PipelineWorld, stage: Stage, entries = 0): Promise<void> {
  const pipeline = world.newPipeline();
  for (;;) {
    const { checkpoint } = world;
    if (checkpoint.stage === stage && Object.keys(checkpoint.entries).length >= entries) return;
    const { next } = await world.step(pipeline);
    if (next === null) throw new Error(`the run has no step in ${stage} with ${entries} entries`);
  }
}

/** Goes on with a new pipeline, as after a deploy. */
async function goOn(world: PipelineWorld): Promise<void> {
  const pipeline = world.newPipeline();
  while ((await world.step(pipeline)).next !== null);
}

describe("a deploy in the middle of a run", () => {
  it("publishes all other locales if it drops one", async () => {
    const world = new PipelineWorld(["de", "en", "ja"]);
    await runUntil(world, "encode", 2);
    world.locales = ["en", "ja"];
    await goOn(world);
    expect(Object.keys(world.current?.locales ?? {})).toEqual(["en", "ja"]);
  });

  it("publishes content of the new snapshot only, if a deployment brings one at any step", async () => {
    const others = (world: PipelineWorld) => {
      world.upstream = embeddedUpstream(world.snapshot);
      world.snapshot = aSnapshot({ names: { de: "m49:150,Euroland,euroland\n" } });
    };
    const pure = new PipelineWorld(["de", "en"]);
    others(pure);
    await pure.runToEnd();
    const restarted = new Set<string>();
    for (let before = 1; ; before++) {
      const world = new PipelineWorld(["de", "en"]);
      const pipeline = world.newPipeline();
      for (let step = 0; step < before; step++) await world.step(pipeline);
      if (world.versions.length > 0) break;
      const { stage } = world.checkpoint;
      others(world);
      expect((await world.step(world.newPipeline())).next, stage).toEqual(FIRST_INGEST_CHECKPOINT);
      expect(world.run.progress).toEqual({ done: 0, total: 0 });
      restarted.add(stage);
      await goOn(world);
      const { current } = world;
      expect(current?.catalog_sha256, `after ${before} steps`).toBe(pure.current?.catalog_sha256);
      expect(current?.sources["snapshot"]).toBe(world.snapshot.sha256);
      for (const body of current ? bodiesOf(current) : []) {
        const copy = await tryReadBody(world.store, body);
        if (!copy.ok) throw new Error(copy.detail);
        expect([sha256Hex(copy.value), null]).toContain(body.sha256);
      }
    }
    expect([...restarted]).toEqual(["parse", "build", "guard", "encode", "publish"]);
  });

  it.each([
    ["by other code", (checkpoint: IngestCheckpoint) => ({ ...checkpoint, madeBy: "other code" })],
    [
      "by code that named no maker",
      (checkpoint: IngestCheckpoint) => {
        const { madeBy: _, ...old } = checkpoint;
        return old;
      },
    ],
  ])("restarts a run whose checkpoint was made %s, and ends it as usual", async (_, remade) => {
    const pure = new PipelineWorld(["en"]);
    await pure.runToEnd();
    const world = new PipelineWorld(["en"]);
    await runUntil(world, "encode");
    world.checkpoint = JSON.parse(JSON.stringify(remade(world.checkpoint)));
    expect((await world.step(world.newPipeline())).next).toEqual(FIRST_INGEST_CHECKPOINT);
    await goOn(world);
    expect(JSON.stringify(world.current)).toBe(JSON.stringify(pure.current));
  });

  it("publishes no hash that differs from its body's, even if it encodes otherwise", async () => {
    const world = new PipelineWorld(["en"]);
    await runUntil(world, "encode");
    const { content } = world.checkpoint;
    const message = { ...content?.messages["en"], sha256: "a".repeat(64) };
    world.checkpoint = JSON.parse(
      JSON.stringify({ ...world.checkpoint, content: { ...content, messages: { en: message } } }),
    );
    await expect(goOn(world)).rejects.toThrow(
      "the message in en differs from that of the build stage",
    );
    expect(world.current).toBeNull();
  });
});
