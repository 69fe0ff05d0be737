import { beforeEach, describe, expect, it } from "vitest";
import { ingest, type IngestOptions, shows } from "../../../scripts/ingest-progress.ts";
import type { AdminAnswer } from "../../../scripts/service-call.ts";

const RUN = {
  id: "run-1",
  state: "queued",
  outcome: null as string | null,
  stage: null as string | null,
  progress: { done: 0, total: 0 },
  generation_before: null,
  generation_after: null as number | null,
  error: null,
  guards: [],
};
const SUCCEEDED = { ...RUN, state: "succeeded", outcome: "published", generation_after: 7 };

/** What the routes answer, each a list of answers of which the last one stays. */
interface Routes {
  readonly queue?: readonly AdminAnswer[];
  readonly run?: readonly AdminAnswer[];
  readonly paused?: readonly AdminAnswer[];
}

const ok = (body: object): AdminAnswer => ({ ok: true, body });
const refused = (status: number, code: string | null = null): AdminAnswer => ({
  ok: false,
  status,
  code,
  problem: `status ${status}`,
});

let output: string;
beforeEach(() => void (output = ""));

const out = {
  isTTY: false,
  write: (text: string) => {
    output += text;
    return true;
  },
} as const;

function follow(routes: Routes, options: Partial<IngestOptions> = {}) {
  const answers = {
    "/admin/ingest/queue": [...(routes.queue ?? [ok({ run: RUN })])],
    "/admin/ingest/runs/run-1": [...(routes.run ?? [ok(SUCCEEDED)])],
    "/admin/ingest/pause": [...(routes.paused ?? [ok({ paused: false })])],
  };
  const call = async (_method: string, path: string): Promise<AdminAnswer> => {
    const left = answers[path as keyof typeof answers];
    return (left.length > 1 ? left.shift() : left[0]) ?? refused(404);
  };
  return ingest({ call, pollMs: 1, patienceMs: 60_000, out, ...options });
}

describe("an ingest", () => {
  it("ends with the published generation", async () => {
    expect(await follow({})).toEqual({ ok: true, generation: 7, isNew: true });
    expect(output).toContain("Catalog published.");
  });

  it("survives answers that fail or never come", async () => {
    const run = [refused(0), refused(503), ok({ ...RUN, state: "running" }), ok(SUCCEEDED)];
    expect(await follow({ queue: [refused(503), ok({ run: RUN })], run })).toMatchObject({
      ok: true,
    });
  });

  it("ends when ingestion is paused, unless it verifies its published version", async () => {
    const paused = [ok({ paused: true })];
    expect(await follow({ run: [ok(RUN)], paused })).toMatchObject({ reason: "paused" });
    const verifying = ok({ ...RUN, state: "running", stage: "verify" });
    const run = [verifying, verifying, ok(SUCCEEDED)];
    expect(await follow({ run, paused })).toMatchObject({ ok: true });
  });

  it.each([
    [
      true,
      "\r\u001B[2Kwaiting …\r\u001B[2Kencode 1 of 4 …\r\u001B[2Kencode 2 of 4 …\r\u001B[2KCatalog",
    ],
    [false, "waiting …\nencode …\nCatalog"],
  ])("shows its progress (on a terminal: %s)", async (isTTY, shown) => {
    const at = (done: number) =>
      ok({ ...RUN, state: "running", stage: "encode", progress: { done, total: 4 } });
    await follow({ run: [at(1), at(2), ok(SUCCEEDED)] }, { out: { ...out, isTTY } });
    expect(output.split(" published")[0]).toBe(shown);
  });

  it("may take any time while it makes progress", async () => {
    const at = (done: number) =>
      ok({ ...RUN, state: "running", stage: "encode", progress: { done, total: 9 } });
    const run = [...Array.from({ length: 9 }, (_, done) => at(done)), ok(SUCCEEDED)];
    expect(await follow({ run }, { patienceMs: 0 })).toEqual({
      ok: true,
      generation: 7,
      isNew: true,
    });
  });

  it("reports a full queue, and the pause instead if that is the cause", async () => {
    const queue = [refused(429)];
    expect(await follow({ queue })).toMatchObject({
      reason: "refused",
      problem: "No ingest is queued: status 429",
    });
    const paused = [ok({ paused: true })];
    expect(await follow({ queue, paused })).toMatchObject({ reason: "paused" });
  });

  it("ends at once if another version has written the stores, which no waiting fixes", async () => {
    expect(await follow({ queue: [refused(503, "other_version")] })).toMatchObject({
      reason: "refused",
      problem: "No ingest is queued: status 503",
    });
  });

  it("fails with a wrong token", async () => {
    expect(await follow({ queue: [refused(401)] })).toMatchObject({ reason: "refused" });
  });

  it("says that another run would fail as well while the stores are another installation's", async () => {
    const error = { code: "foreign_stores", stage: "fetch", message: "R2 is theirs" };
    expect(await follow({ run: [ok({ ...RUN, state: "failed", error })] })).toMatchObject({
      ok: false,
      isForeign: true,
    });
  });

  it("ends with the error of a failed run", async () => {
    const error = { code: "source_missing", stage: "fetch", message: "airports.csv is missing" };
    expect(await follow({ run: [ok({ ...RUN, state: "failed", error })] })).toEqual({
      ok: false,
      reason: "failed",
      problem: "The ingest failed in stage fetch: airports.csv is missing (source_missing)",
    });
  });

  it.each([
    [{ approvable: "run-1" }, ["guard_shrink", "guard_change"]],
    [{}, ["guard_shrink", "guard_rejects"]],
  ])("says whether the guards that refused it can be overridden: %j", async (found, guards) => {
    const error = { code: "guard_shrink", stage: "guard", message: "fewer airports" };
    const run = { ...RUN, state: "failed", error, guards: guards.map((guard) => ({ guard })) };
    expect(await follow({ run: [ok(run)] })).toEqual({
      ok: false,
      reason: "failed",
      problem: "The ingest failed in stage guard: fewer airports (guard_shrink)",
      ...found,
    });
  });

  it.each([
    ["nobody answers", refused(503), "status 503."],
    [
      "a stage does not end",
      ok({ ...RUN, state: "running", stage: "verify" }),
      "It stays at: verify.",
    ],
  ])("fails with a plain message when %s for too long", async (_, answer, why) => {
    const end = await follow({ run: [answer] }, { patienceMs: 20 });
    expect(end).toMatchObject({ reason: "stalled" });
    expect(JSON.stringify(end)).toContain(`The ingest has not gone on for 0 s. ${why}`);
  });

  it("ends when the Worker ends", async () => {
    const assertAlive = () => {
      throw new Error("The Worker has ended");
    };
    await expect(follow({}, { assertAlive })).rejects.toThrow("The Worker has ended");
  });
});

describe("what the service answers after an ingest", () => {
  const lost = {
    ok: false,
    status: 500,
    code: "data_loss",
    problem: "data_loss, every copy is damaged",
  } as const;
  const none = { ...lost, status: 503, code: "unavailable", problem: "unavailable, no catalog" };
  const generation = (number: number) => ({ ok: true, generation: number, counts: "" }) as const;

  it("shows the published version, or is waited for", () => {
    const end = { ok: true, generation: 7, isNew: true } as const;
    const answers = [generation(6), lost, none, generation(7), generation(8)];
    expect(answers.map((served) => shows(served, end))).toEqual([false, false, false, true, true]);
  });

  it("is final at once if the ingest has not fixed a loss, or has failed", () => {
    expect(shows(lost, { ok: true, generation: 7, isNew: false })).toBe(true);
    expect(shows(none, { ok: true, generation: 7, isNew: false })).toBe(false);
    expect(shows(none, { ok: false, reason: "paused", problem: "" })).toBe(true);
  });
});
