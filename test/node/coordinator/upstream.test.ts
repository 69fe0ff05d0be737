import { gunzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { CoordinatorWorld, START } from "../../builders/coordinator-world.ts";
import { aSnapshot } from "../../builders/small-snapshot.ts";
import { type Behavior, file, status } from "../../builders/upstream-server.ts";
import { AIRPORTS_PATH, REGIONS_PATH, UpstreamWorld } from "../../builders/upstream-world.ts";
import { useUpstreamServer } from "../../builders/use-upstream-server.ts";

const contentOf = async (name: string) => gunzipSync(await aSnapshot().read(name)).toString();
const AIRPORTS = file(await contentOf("airports.csv.gz"));

const server = useUpstreamServer();
let world: CoordinatorWorld;

beforeEach(async () => {
  world = new CoordinatorWorld();
  world.upstream = new UpstreamWorld(server).upstream();
  server.on(REGIONS_PATH, file(await contentOf("regions.csv.gz")));
});

const rows = () => [...world.history.rows.values()].map(({ run }) => run);
const times = (count: number, behavior: Behavior) => Array<Behavior>(count).fill(behavior);

describe("a run with a faulty upstream", () => {
  it("succeeds if one of five attempts at its step does", async () => {
    server.on(AIRPORTS_PATH, ...times(4, status(503)), AIRPORTS);
    expect(await world.runToEnd()).toMatchObject({ outcome: "published", retries: 4 });
    expect(rows()).toHaveLength(1);
  });

  it("fails after five attempts at its step, and has one retry", async () => {
    server.on(AIRPORTS_PATH, status(503));
    const failed = await world.runToEnd();
    expect(failed).toMatchObject({ state: "failed", retries: 4 });
    expect(failed.error).toMatchObject({ code: "source_http_status", stage: "fetch" });
    expect(rows()).toMatchObject([
      { id: failed.id, attempt: 1 },
      { state: "failed", trigger: "retry", attempt: 2, parent_run_id: failed.id },
    ]);
    expect(rows()).toHaveLength(2);
    expect(server.paths).toEqual(Array(10).fill(AIRPORTS_PATH));
  });

  it.each([
    ["31", 60_000],
    ["3600", 3_600_000],
  ])(
    "fails at once for a Retry-After of %s s, and its retry starts after %i ms",
    async (retryAfter, waitMs) => {
      server.on(AIRPORTS_PATH, status(503, { "retry-after": retryAfter }), AIRPORTS);
      await world.runToEnd();
      const [first, second] = rows();
      expect(first).toMatchObject({ state: "failed", retries: 0 });
      expect(second).toMatchObject({ outcome: "published", trigger: "retry" });
      expect(Date.parse(second?.started_at ?? "")).toBe(START + waitMs);
    },
  );

  it.each<[string, Behavior, string, string]>([
    [
      "asks to be left alone for over an hour",
      status(503, { "retry-after": "3601" }),
      "answers 503 and asks to be left alone for 3601 s; try again later; the wait exceeds an hour, so the run is not retried",
      "source_http_status",
    ],
    ["answers 404", status(404), "", "source_http_refused"],
  ])("ends without a retry when upstream %s", async (_, behavior, why, code) => {
    server.on(AIRPORTS_PATH, behavior);
    const { error } = await world.runToEnd();
    expect(error?.message).toContain(why);
    expect(rows()).toMatchObject([{ state: "failed", error: { code } }]);
    expect(rows()).toHaveLength(1);
    expect(server.paths).toEqual([AIRPORTS_PATH]);
  });
});

describe("a request for a run after upstream has asked for a wait", () => {
  it("starts at once, and the retry of the failed run comes at its time", async () => {
    server.on(AIRPORTS_PATH, status(503, { "retry-after": "3500" }), AIRPORTS);
    const { run: failed } = await world.enqueue();
    await world.drain(() => world.run(failed.id).state === "failed");
    const { run, ...answer } = await world.enqueue();
    expect(answer).toMatchObject({ changed: true, will_start: "now", queue_position: 1 });
    await world.drain();
    expect(world.run(run.id)).toMatchObject({ outcome: "published", started_at: run.queued_at });
    const [retry] = world.state.runs();
    expect(retry).toMatchObject({ trigger: "retry", outcome: "unchanged" });
    expect(Date.parse(retry?.started_at ?? "")).toBe(START + 3_500_000);
  });
});
