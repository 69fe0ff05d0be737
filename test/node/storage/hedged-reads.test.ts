import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Copy, Replica } from "../../../src/storage/catalog-store.ts";
import { HedgedReads } from "../../../src/storage/hedged-reads.ts";

type Answer = Copy<string> | "silent";

const RIGHT = (value: string): Copy<string> => ({ ok: true, value });
const FAULT = (fault: "missing" | "corrupt" | "unreadable"): Copy<string> => ({
  ok: false,
  fault,
  detail: "why",
});

let time: number;
let reports: string[];
let calls: Replica[];
let answers: Record<Replica, Answer>;
let reads: HedgedReads;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  time = 0;
  reports = [];
  calls = [];
  answers = { kv: RIGHT("near"), r2: RIGHT("far") };
  reads = new HedgedReads({
    now: () => time,
    report: (event, detail) => void reports.push(`${event}: ${detail}`),
  });
});
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => {
  time += ms;
  return vi.advanceTimersByTimeAsync(ms);
};

/** Reads, and lets the silence that starts the second read pass. */
async function read(): Promise<Copy<string>> {
  const reading = reads.read("blob", (replica) => {
    calls.push(replica);
    const answer = answers[replica];
    return answer === "silent" ? new Promise(() => {}) : Promise.resolve(answer);
  });
  await pass(400);
  return reading;
}

describe("HedgedReads", () => {
  it("reads KV alone while it answers", async () => {
    expect(await read()).toEqual(RIGHT("near"));
    expect(calls).toEqual(["kv"]);
  });

  it.each(["missing", "corrupt", "unreadable"] as const)(
    "reads R2 at once when KV's copy is %s, and reports why",
    async (fault) => {
      answers.kv = FAULT(fault);
      expect(await read()).toEqual(RIGHT("far"));
      expect(reports).toEqual([`blob_${fault}: kv why`]);
    },
  );

  it("reads R2 after 400 ms of silence, and no earlier", async () => {
    answers.kv = "silent";
    const reading = reads.read("blob", (replica) => {
      calls.push(replica);
      return replica === "kv" ? new Promise(() => {}) : Promise.resolve(RIGHT("far"));
    });
    await pass(399);
    expect(calls).toEqual(["kv"]);
    await pass(1);
    expect(await reading).toEqual(RIGHT("far"));
    expect(reports).toEqual(["blob_silent: kv: R2 answered first, after 400 ms"]);
  });

  it("takes KV's copy when R2 has none", async () => {
    const { promise, resolve } = Promise.withResolvers<Copy<string>>();
    const reading = reads.read("blob", (replica) =>
      replica === "kv" ? promise : Promise.resolve(FAULT("missing")),
    );
    await pass(500);
    resolve(RIGHT("late"));
    expect(await reading).toEqual(RIGHT("late"));
  });

  it.each([
    ["missing", "missing", "missing"],
    ["missing", "corrupt", "corrupt"],
    ["corrupt", "unreadable", "unreadable"],
    ["unreadable", "missing", "unreadable"],
  ] as const)("calls a copy that is %s in KV and %s in R2 %s", async (kv, r2, fault) => {
    answers = { kv: FAULT(kv), r2: FAULT(r2) };
    expect(await read()).toMatchObject({ ok: false, fault });
  });
});

describe("a store that fails three times in a row", () => {
  it.each([
    ["is silent", "silent"],
    ["does not answer", FAULT("unreadable")],
  ] as const)(
    "is skipped for two seconds, and then for two more after the next fault, when it %s",
    async (_, answer) => {
      answers.kv = answer;
      for (let count = 0; count < 3; count++) expect(await read()).toEqual(RIGHT("far"));
      calls.length = 0;
      await read();
      expect(calls).toEqual(["r2"]);
      await pass(2_000);
      calls.length = 0;
      await read();
      await read();
      expect(calls).toEqual(["kv", "r2", "r2"]);
    },
  );

  it("gets one trial at a time, however many reads wait for it", async () => {
    answers.kv = FAULT("unreadable");
    for (let count = 0; count < 3; count++) await read();
    await pass(2_000);
    calls.length = 0;
    const { promise: trial, resolve } = Promise.withResolvers<Copy<string>>();
    const reading = Array.from({ length: 5 }, () =>
      reads.read("blob", (replica) => {
        calls.push(replica);
        return replica === "kv" ? trial : Promise.resolve(RIGHT("far"));
      }),
    );
    resolve(RIGHT("near"));
    expect(await Promise.all(reading)).toContainEqual(RIGHT("near"));
    expect(calls.filter((replica) => replica === "kv")).toHaveLength(1);
  });

  it("is skipped for answers that come after those of R2, too", async () => {
    const slowly = () =>
      reads.read("blob", (replica) => {
        calls.push(replica);
        if (replica === "r2") return Promise.resolve(RIGHT("far"));
        return new Promise<Copy<string>>((resolve) =>
          setTimeout(() => resolve(RIGHT("late")), 600),
        );
      });
    for (let count = 0; count < 3; count++) {
      const reading = slowly();
      await pass(600);
      expect(await reading).toEqual(RIGHT("far"));
    }
    calls.length = 0;
    const skipping = slowly();
    await pass(600);
    await skipping;
    expect(calls).toEqual(["r2"]);
  });

  it("is used again as soon as the try succeeds", async () => {
    answers.kv = FAULT("unreadable");
    for (let count = 0; count < 3; count++) await read();
    await pass(2_000);
    answers.kv = RIGHT("near");
    expect(await read()).toEqual(RIGHT("near"));
    expect(await read()).toEqual(RIGHT("near"));
  });

  it("is not skipped for copies that it does not have", async () => {
    answers.kv = FAULT("missing");
    for (let count = 0; count < 9; count++) await read();
    expect(calls.filter((replica) => replica === "kv")).toHaveLength(9);
  });

  it("leaves no read that waits when both do", async () => {
    answers = { kv: FAULT("unreadable"), r2: FAULT("unreadable") };
    for (let count = 0; count < 3; count++) await read();
    calls.length = 0;
    expect(await read()).toMatchObject({ ok: false, fault: "unreadable" });
    expect(calls).toEqual([]);
  });
});
