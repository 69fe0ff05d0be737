import { describe, expect, it } from "vitest";
import type { Stage } from "../../../src/ingest/run.ts";
import { PipelineWorld } from "../../builders/pipeline-world.ts";
import { aSnapshot, moreAirports } from "../../builders/small-snapshot.ts";

/** Does the steps of a run until it stands before a stage. */
async function runUntil(world: PipelineWorld, stage: Stage, entries = 0): Promise<void> {
  const pipeline = world.newPipeline();
  for (;;) {
    const { checkpoint } = world;
    if (checkpoint.stage === stage && Object.keys(checkpoint.entries).length === entries) return;
    await world.step(pipeline);
  }
}

/** Goes on with a new pipeline, as after a deploy. */
async function goOn(world: PipelineWorld): Promise<void> {
  const pipeline = world.newPipeline();
  while ((await world.step(pipeline)).next !== null);
}

describe("a deploy in the middle of a run", () => {
  it("that takes a locale away publishes all of the others, and not the one", async () => {
    const world = new PipelineWorld(["de", "en", "ja"]);
    await runUntil(world, "encode", 2);
    world.locales = ["en", "ja"];
    await goOn(world);
    expect(Object.keys(world.current?.locales ?? {})).toEqual(["en", "ja"]);
  });

  it("that adds a locale publishes it as well", async () => {
    const world = new PipelineWorld(["en", "ja"]);
    await runUntil(world, "publish", 2);
    world.locales = ["de", "en", "ja"];
    await goOn(world);
    expect(Object.keys(world.current?.locales ?? {})).toEqual(["de", "en", "ja"]);
  });

  it.each<Stage>(["parse", "build", "guard", "encode", "publish"])(
    "with another snapshot begins anew what was begun, before %s",
    async (stage) => {
      const world = new PipelineWorld(["en"]);
      await runUntil(world, stage, stage === "publish" ? 1 : 0);
      world.snapshot = aSnapshot({ airports: moreAirports(4) });
      const { next } = await world.step(world.newPipeline());
      expect(next).toMatchObject({
        stage: "fetch",
        content: null,
        common: [],
        entries: {},
      });
      await goOn(world);
      expect(world.current?.generation).toBe(1);
    },
  );

  it("takes up what code made that named no maker", async () => {
    const world = new PipelineWorld(["en"]);
    await runUntil(world, "encode");
    const { madeBy: _, ...old } = world.checkpoint;
    world.checkpoint = JSON.parse(JSON.stringify(old));
    await goOn(world);
    expect(Object.keys(world.current?.locales ?? {})).toEqual(["en"]);
  });

  it("of code that encodes otherwise publishes no hash that is not its body's", async () => {
    const world = new PipelineWorld(["en"]);
    await runUntil(world, "encode");
    const { content } = world.checkpoint;
    const message = { ...content?.messages["en"], sha256: "a".repeat(64) };
    world.checkpoint = JSON.parse(
      JSON.stringify({ ...world.checkpoint, content: { ...content, messages: { en: message } } }),
    );
    await expect(goOn(world)).rejects.toThrow("the message in en is not the one that was built");
    expect(world.current).toBeNull();
  });

  it("does not publish again what is published already", async () => {
    const world = new PipelineWorld(["en"]);
    await runUntil(world, "verify", 1);
    world.snapshot = aSnapshot({ airports: moreAirports(4) });
    await goOn(world);
    expect(world.current?.generation).toBe(1);
    expect(world.run.generationAfter).toBe(1);
  });
});
