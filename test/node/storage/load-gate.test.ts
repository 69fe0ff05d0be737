import { beforeEach, describe, expect, it, vi } from "vitest";
import { LoadGate } from "../../../src/storage/load-gate.ts";

const patient = new AbortController().signal;
let time: number;
let gate: LoadGate;

beforeEach(() => {
  time = 1_000_000;
  gate = new LoadGate(100, () => time);
});

/** Who has been let in, in order, and what each was given. */
function inLine(...bytes: readonly number[]) {
  const entered: number[] = [];
  const turns = bytes.map(async (each, index) => {
    const leave = await gate.enter(each, patient);
    entered.push(index);
    return leave;
  });
  return { entered, turns };
}

/** Lets promises that have settled go on. */
const settled = () => new Promise(setImmediate);

describe("LoadGate", () => {
  it("lets in at once what fits, and no more than that", () => {
    const leave = gate.tryEnter(60);
    expect(gate.tryEnter(40)).toBeDefined();
    expect(gate.tryEnter(1)).toBeUndefined();
    leave?.();
    expect(gate.tryEnter(61)).toBeUndefined();
    expect(gate.tryEnter(60)).toBeDefined();
  });

  it("lets in what is larger than the bound when it is alone, and nothing beside it", () => {
    const leave = gate.tryEnter(1_000);
    expect(gate.tryEnter(1)).toBeUndefined();
    leave?.();
    expect(gate.tryEnter(1)).toBeDefined();
    expect(gate.tryEnter(1_000)).toBeUndefined();
  });

  it("gives a share back once, however often that is said", () => {
    const leave = gate.tryEnter(60);
    leave?.();
    expect(gate.tryEnter(90)).toBeDefined();
    leave?.();
    expect(gate.tryEnter(20)).toBeUndefined();
  });

  it("keeps the order of those who wait, so that large ones are not passed by for ever", async () => {
    const leave = gate.tryEnter(100);
    const { entered, turns } = inLine(90, 10, 20);
    await settled();
    expect(entered).toEqual([]);
    leave?.();
    await settled();
    expect(entered).toEqual([0, 1]);
    expect(gate.tryEnter(0)).toBeUndefined();
    (await turns[0])?.();
    await settled();
    expect(entered).toEqual([0, 1, 2]);
  });

  it("forgets who no longer waits, and lets the next one in", async () => {
    const leave = gate.tryEnter(50);
    const controller = new AbortController();
    const given = gate.enter(60, controller.signal);
    const { entered } = inLine(50);
    controller.abort(new Error("the client is gone"));
    await expect(given).rejects.toThrow("the client is gone");
    await settled();
    expect(entered).toEqual([0]);
    leave?.();
    expect(gate.tryEnter(50)).toBeDefined();
  });

  it("takes back what was given to one who has gone in the same moment", async () => {
    const leave = gate.tryEnter(100);
    const controller = new AbortController();
    const given = gate.enter(100, controller.signal);
    controller.abort(new Error("the client is gone"));
    leave?.();
    await expect(given).rejects.toThrow("the client is gone");
    expect(gate.tryEnter(100)).toBeDefined();
  });

  it("takes a load that does not end for lost, and those in line go on", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      gate.tryEnter(100);
      const { entered } = inLine(100);
      time += 4_999;
      vi.advanceTimersByTime(1_000);
      await settled();
      expect(entered).toEqual([]);
      time += 1;
      vi.advanceTimersByTime(1_000);
      await settled();
      expect(entered).toEqual([0]);
    } finally {
      vi.useRealTimers();
    }
  });
});
