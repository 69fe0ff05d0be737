import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Copy, CopyFault, Replica } from "../../../src/storage/catalog-store.ts";
import { StoreReads } from "../../../src/storage/store-reads.ts";

type Answer = Copy<string> | Promise<Copy<string>>;

const RIGHT = (value: string): Copy<string> => ({ ok: true, value });
const FAULT = (fault: CopyFault["fault"]): CopyFault => ({ ok: false, fault, detail: "why" });
const SILENCE = new Promise<Copy<string>>(() => {});

let time: number;
let reports: string[];
let calls: Replica[];
/** How each store answers, once for each read. */
let answers: Record<Replica, () => Answer>;
let reads: StoreReads;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  time = 0;
  reports = [];
  calls = [];
  answers = { kv: () => RIGHT("near"), r2: () => RIGHT("far") };
  reads = new StoreReads({
    now: () => time,
    report: (event, detail) => void reports.push(`${event}: ${detail}`),
  });
});
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => {
  time += ms;
  return vi.advanceTimersByTimeAsync(ms);
};

async function ask(replica: Replica): Promise<Copy<string>> {
  calls.push(replica);
  return answers[replica]();
}

function startRead(key = "key"): Promise<Copy<string>> {
  return reads.read({ what: "blob", key, read: ask });
}

/** Reads, and lets the silence pass after which R2 is read as well. */
async function read(key?: string): Promise<Copy<string>> {
  const reading = startRead(key);
  await pass(400);
  return reading;
}

/** Lets KV fail so often that it is skipped. */
async function failKv(answer: () => Answer = () => FAULT("unreadable")): Promise<void> {
  answers.kv = answer;
  for (let count = 0; count < 3; count++) expect(await read()).toEqual(RIGHT("far"));
  calls.length = 0;
}

describe("a read from both stores", () => {
  it("asks only KV while KV answers", async () => {
    expect(await read()).toEqual(RIGHT("near"));
    expect(calls).toEqual(["kv"]);
  });

  it.each(["missing", "corrupt", "unreadable"] as const)(
    "asks R2 at once when the copy in KV is %s, and reports why",
    async (fault) => {
      answers.kv = () => FAULT(fault);
      expect(await startRead()).toEqual(RIGHT("far"));
      expect(reports).toEqual([`blob_${fault}: kv why`]);
    },
  );

  it("asks R2 exactly 400 ms after a silent KV was asked", async () => {
    answers.kv = () => SILENCE;
    const reading = startRead();
    await pass(399);
    expect(calls).toEqual(["kv"]);
    await pass(1);
    expect(await reading).toEqual(RIGHT("far"));
    expect(reports).toEqual(["blob_silent: kv: R2 answered first, after 400 ms"]);
  });

  it("takes the late copy from KV if R2 has none", async () => {
    const { promise, resolve } = Promise.withResolvers<Copy<string>>();
    answers = { kv: () => promise, r2: () => FAULT("missing") };
    const reading = startRead();
    await pass(500);
    resolve(RIGHT("late"));
    expect(await reading).toEqual(RIGHT("late"));
  });

  it.each([
    ["missing", "missing", "missing"],
    ["missing", "corrupt", "corrupt"],
    ["corrupt", "unreadable", "unreadable"],
    ["unreadable", "missing", "unreadable"],
  ] as const)("fails for a copy that is %s in KV and %s in R2 as %s", async (kv, r2, fault) => {
    answers = { kv: () => FAULT(kv), r2: () => FAULT(r2) };
    expect(await read()).toMatchObject({ ok: false, fault });
  });
});

describe("a store that fails three times in a row", () => {
  it.each([
    ["is silent", () => SILENCE],
    ["does not answer", () => FAULT("unreadable")],
  ])("gets no read for two seconds, and for two more if it still %s", async (_, answer) => {
    await failKv(answer);
    await read();
    expect(calls).toEqual(["r2"]);
    await pass(2_000);
    calls.length = 0;
    await read();
    await read();
    expect(calls).toEqual(["kv", "r2", "r2"]);
  });

  it("stays skipped even if it answers, as long as each answer comes after that of R2", async () => {
    const answerLate = () =>
      new Promise<Copy<string>>((resolve) => setTimeout(() => resolve(RIGHT("late")), 500));
    await failKv(answerLate);
    await pass(100);
    await read();
    expect(calls).toEqual(["r2"]);
  });

  it("gets one trial at a time, however many reads there are", async () => {
    await failKv();
    await pass(2_000);
    const { promise, resolve } = Promise.withResolvers<Copy<string>>();
    answers.kv = () => promise;
    const reading = Array.from({ length: 5 }, (_, index) => startRead(String(index)));
    resolve(RIGHT("near"));
    expect(await Promise.all(reading)).toContainEqual(RIGHT("near"));
    expect(calls.filter((replica) => replica === "kv")).toHaveLength(1);
  });

  it("gets reads again as soon as the trial succeeds", async () => {
    await failKv();
    await pass(2_000);
    answers.kv = () => RIGHT("near");
    expect(await read()).toEqual(RIGHT("near"));
    expect(await read()).toEqual(RIGHT("near"));
  });

  it("delays no read even if the other one is skipped too", async () => {
    answers = { kv: () => FAULT("unreadable"), r2: () => FAULT("unreadable") };
    for (let count = 0; count < 3; count++) await read();
    calls.length = 0;
    expect(await read()).toMatchObject({ ok: false, fault: "unreadable" });
    expect(calls).toEqual([]);
  });
});

describe("an object that neither store has intact", () => {
  it.each(["missing", "corrupt"] as const)(
    "costs no read for two seconds if it is %s, while others are read",
    async (fault) => {
      answers = { kv: () => FAULT("missing"), r2: () => FAULT(fault) };
      await startRead("lost");
      calls.length = 0;
      await pass(1_999);
      expect(await startRead("lost")).toEqual(FAULT(fault));
      expect(calls).toEqual([]);
      await startRead("other");
      expect(calls).toEqual(["kv", "r2"]);
      await pass(1);
      answers.r2 = () => RIGHT("far");
      expect(await startRead("lost")).toEqual(RIGHT("far"));
      expect(await startRead("lost")).toEqual(RIGHT("far"));
    },
  );

  it("costs a read each time if a store that did not answer may still have it", async () => {
    answers = { kv: () => FAULT("missing"), r2: () => FAULT("unreadable") };
    await startRead();
    answers.r2 = () => RIGHT("far");
    expect(await startRead()).toEqual(RIGHT("far"));
  });

  it("counts as no failure of the stores", async () => {
    answers.kv = () => FAULT("missing");
    for (let count = 0; count < 9; count++) await read();
    expect(calls.filter((replica) => replica === "kv")).toHaveLength(9);
  });

  it("leaves the memory after a thousand others, so that the memory is bounded", async () => {
    answers = { kv: () => FAULT("missing"), r2: () => FAULT("missing") };
    for (let index = 0; index < 1_025; index++) await startRead(String(index));
    calls.length = 0;
    await startRead("0");
    await startRead("1024");
    expect(calls).toEqual(["kv", "r2"]);
  });
});

describe("a read from R2 alone", () => {
  it("asks R2 and never KV", async () => {
    expect(await reads.readR2({ what: "manifest", key: "newest", read: ask })).toEqual(
      RIGHT("far"),
    );
    expect(calls).toEqual(["r2"]);
  });

  it("counts towards the three failures after which R2 is skipped", async () => {
    answers.r2 = () => FAULT("unreadable");
    const readR2 = () => reads.readR2({ what: "manifest", key: "newest", read: ask });
    for (let count = 0; count < 3; count++) await readR2();
    expect(await readR2()).toMatchObject({ fault: "unreadable" });
    expect(calls).toHaveLength(3);
  });
});
