import { describe, expect, it } from "vitest";
import { decidePause, hasEnded, type Pause } from "../../../src/jobs/pause.ts";

const AT = "2026-11-01T04:17:00.000Z";
const LATER = "2026-11-01T05:00:00.000Z";
const present: Pause = { at: AT, by: "ops", reason: "bad data", until: null };

describe("decidePause", () => {
  it("begins a pause", () => {
    expect(decidePause(null, { by: "ops", reason: "bad data", until: LATER }, AT)).toEqual({
      pause: { at: AT, by: "ops", reason: "bad data", until: LATER },
      changed: true,
    });
  });

  it.each([{ reason: "bad data" }, { reason: null }])(
    "changes nothing when the same is asked for again, with %j",
    ({ reason }) => {
      for (const end of [{}, { until: null }]) {
        const decided = decidePause(present, { by: "ana", reason, ...end }, LATER);
        expect(decided).toEqual({ pause: present, changed: false });
      }
    },
  );

  it.each([
    { reason: "upgrade", until: null },
    { reason: "bad data", until: LATER },
  ])("takes over %j, says who asked, and keeps when the pause began", (changes) => {
    expect(decidePause(present, { by: "ana", ...changes }, LATER)).toEqual({
      pause: { at: AT, by: "ana", ...changes },
      changed: true,
    });
  });
});

describe("a pause that is asked for again", () => {
  it("has no end any more where the request says so", () => {
    const ending: Pause = { ...present, until: LATER };
    expect(decidePause(ending, { by: "ana", reason: null, until: null }, AT)).toEqual({
      pause: { ...ending, by: "ana", until: null },
      changed: true,
    });
  });

  it("keeps its end where none is named", () => {
    const ending: Pause = { ...present, until: LATER };
    expect(decidePause(ending, { by: "ana", reason: "upgrade" }, AT)).toEqual({
      pause: { ...ending, by: "ana", reason: "upgrade" },
      changed: true,
    });
    expect(decidePause(ending, { by: "ana", reason: null }, AT)).toEqual({
      pause: ending,
      changed: false,
    });
  });
});

describe("hasEnded", () => {
  it("is so from `until` on, and never without one", () => {
    const until: Pause = { ...present, until: LATER };
    const end = Date.parse(LATER);
    expect([end - 1, end, end + 1].map((now) => hasEnded(until, now))).toEqual([false, true, true]);
    expect(hasEnded(present, Infinity)).toBe(false);
  });
});
