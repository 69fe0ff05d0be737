import { describe, expect, it } from "vitest";
import {
  decidePause,
  hasEnded,
  type Pause,
  type PauseRequest,
} from "../../../src/schemas/pause.ts";

const AT = "2026-11-01T04:17:00.000Z";
const LATER = "2026-11-01T05:00:00.000Z";
const endless: Pause = { at: AT, by: "ops", note: "bad data", until: null };
const ending: Pause = { ...endless, until: LATER };

/** What comes of a pause when somebody else asks for one later. */
const askedAgain = (present: Pause, request: Omit<PauseRequest, "by">) =>
  decidePause(present, { by: "ana", ...request }, LATER);

describe("decidePause", () => {
  it("starts a pause", () => {
    const request = { by: "ops", note: "bad data", until: LATER };
    expect(decidePause(null, request, AT)).toEqual({ pause: ending, changed: true });
  });

  it.each<[Pause, Omit<PauseRequest, "by">]>([
    [endless, { note: "bad data" }],
    [endless, { note: null }],
    [endless, { note: "bad data", until: null }],
    [endless, { note: null, until: null }],
    [ending, { note: null }],
  ])("leaves %j as it is for a repeated request: %j", (present, request) => {
    expect(askedAgain(present, request)).toEqual({ pause: present, changed: false });
  });

  it.each<[string, Pause, Omit<PauseRequest, "by">, Partial<Pause>]>([
    ["a note", endless, { note: "upgrade", until: null }, { note: "upgrade" }],
    ["an end", endless, { note: "bad data", until: LATER }, { until: LATER }],
    ["no end", ending, { note: null, until: null }, { until: null }],
    ["a note, and keeps the end", ending, { note: "upgrade" }, { note: "upgrade" }],
  ])("adopts %s and names its author, but keeps its start", (_, present, request, changes) => {
    const pause = { ...present, by: "ana", ...changes };
    expect(askedAgain(present, request)).toEqual({ pause, changed: true });
  });
});

describe("hasEnded", () => {
  it("returns true from `until` on, and never for a pause without an end", () => {
    const end = Date.parse(LATER);
    const ended = [end - 1, end, end + 1].map((now) => hasEnded(ending, now));
    expect(ended).toEqual([false, true, true]);
    expect(hasEnded(endless, Infinity)).toBe(false);
  });
});
