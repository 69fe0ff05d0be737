import { beforeEach, describe, expect, it } from "vitest";
import { HeapTrace } from "../../../bench/heap-trace.ts";

const OURS = "0x7a00";
const STORES = "0x7b00";

describe("the memory of an isolate, as V8 tells of it", () => {
  let trace: HeapTrace;

  /** One collection of garbage; sizes in MiB. */
  const collected = (
    isolate: string,
    { heap, external, buffers }: { heap: number; external: number; buffers: number },
  ) => {
    for (const [what, mib] of [
      ["Old space,                  used", heap / 2],
      ["All spaces,                 used", heap],
      ["External memory reported", external],
      ["Backing store memory", buffers],
    ] as const)
      trace.hear(`[4711:${isolate}] ${what}:  ${mib * 1024} KB, and more`);
  };

  beforeEach(() => {
    trace = new HeapTrace();
    collected(OURS, { heap: 20, external: 5, buffers: 6 });
    trace.takePeakMb();
  });

  it("is that of objects and of what stands outside of the heap, whichever count of it is higher", () => {
    collected(OURS, { heap: 21, external: 40, buffers: 30 });
    expect(trace.takePeakMb()).toBe(61);
    collected(OURS, { heap: 21, external: 30, buffers: 50 });
    expect(trace.takePeakMb()).toBe(71);
  });

  it("is the most since it was asked for last, and what it was then if nothing was collected", () => {
    collected(OURS, { heap: 30, external: 50, buffers: 50 });
    collected(OURS, { heap: 25, external: 10, buffers: 10 });
    expect(trace.takePeakMb()).toBe(80);
    expect(trace.takePeakMb()).toBe(35);
  });

  it("is what was seen between two collections, if that is more", () => {
    collected(OURS, { heap: 30, external: 50, buffers: 50 });
    trace.see(90);
    trace.see(10);
    expect(trace.takePeakMb()).toBe(90);
    expect(trace.takePeakMb()).toBe(80);
  });

  it("is that of the isolate with the largest heap: the others simulate stores", () => {
    collected(STORES, { heap: 4, external: 200, buffers: 200 });
    expect(trace.takePeakMb()).toBe(26);
  });

  it("has the garbage in it that a collection found", () => {
    trace.hear(
      `[4711:${OURS}]    14202 ms: Mark-Compact 90.0 (95.4) -> 11.1 (15.4) MB, pooled: 20 MB`,
    );
    collected(OURS, { heap: 12, external: 10, buffers: 10 });
    expect(trace.takePeakMb()).toBe(100);
    trace.hear(
      `[4711:${OURS}:0]  14303 ms: Scavenge (during sweeping) 40.0 (95.4) -> 11.1 (15.4) MB`,
    );
    collected(OURS, { heap: 12, external: 10, buffers: 10 });
    expect(trace.takePeakMb()).toBe(100); // what it was at the collection before
    expect(trace.takePeakMb()).toBe(50);
  });

  it("is not told by any other line", () => {
    trace.hear('{"event":"ingest_step","stage":"parse"}');
    trace.hear("[4711:0x7a00:0]    14167 ms: [HeapController] factor 1.1 based on mu=0.970");
    expect(trace.takePeakMb()).toBe(26);
  });
});
