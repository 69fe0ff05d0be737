import { expect, it } from "vitest";
import { evaluateRules } from "../../../src/health/rules.ts";
import { CoordinatorWorld } from "../../builders/coordinator-world.ts";
import { DEFAULT_LIMITS, MINUTE_MS, someFacts } from "../../builders/facts.ts";

it("a publication whose manifest R2 refuses is seen after ten minutes, and until R2 takes it", async () => {
  const world = new CoordinatorWorld();
  world.before = (call) => {
    if (call.startsWith("r2 put catalog/manifest")) throw new Error("R2 refuses");
  };
  const verdicts = () => {
    const ingest = { ...world.coordinator.status(), bestCoverage: {} };
    const facts = someFacts({ ingest: { ok: true, value: ingest } });
    const found = evaluateRules(facts, { now: world.time, limits: DEFAULT_LIMITS });
    const verdictOf = (name: string) => found.find(({ rule }) => rule === name)?.verdict;
    return { stuck: verdictOf("ingest_stuck"), replication: verdictOf("replication_stuck") };
  };
  await world.enqueue();
  const began = world.time;
  await world.drain(() => world.time > began + 5 * MINUTE_MS);
  expect(verdicts()).toEqual({ stuck: "good", replication: "good" });
  await world.drain(() => world.time > began + 60 * MINUTE_MS);
  expect(verdicts()).toEqual({ stuck: "good", replication: "bad" });
  world.before = () => {};
  await world.drain();
  expect(verdicts()).toEqual({ stuck: "good", replication: "good" });
});
