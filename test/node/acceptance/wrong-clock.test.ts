import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { SourceAirport } from "../../../src/catalog/source-airport.ts";
import { BASEL, BERN, UpstreamLife, withBasel } from "../../builders/upstream-life.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = Date.parse("2026-11-01T04:17:00.000Z");
/** Longest time between two looks. */
const GAP_MS = 36 * HOUR_MS;
const HOLD_MS = 3 * DAY_MS;
/** A run may accept a change so much early, because the one that first saw it may have been late. */
const LATENESS_MS = HOUR_MS;

const BEFORE = [BASEL, BERN];
const AFTER = withBasel({ name: "Ghost" });

/** The airports with another name of the second one. */
const withBern = (airports: readonly SourceAirport[]) =>
  airports.map((airport) => (airport.iata === BERN.iata ? { ...airport, name: "Belp" } : airport));

interface Clock {
  /** How far the clock is from the right time, at the runs with these indexes. */
  readonly offMs: number;
  readonly wrongRuns: readonly number[];
  readonly everyMs: number;
  /** Index of the run that is the first to see the change. */
  readonly firstSeen: number;
  /** How far a clock was fast once, before all. */
  readonly onceMs?: number;
  /** Whether the coordinator knows of no run before, as after a restore, but another change waits. */
  readonly isNew?: boolean;
}

/** Returns for how long upstream has said the same when a run accepts it. */
function waitOf({ offMs, wrongRuns, everyMs, firstSeen, onceMs = 0, isNew }: Clock): number {
  const life = new UpstreamLife(BEFORE);
  if (onceMs > 0) {
    life.now = START + onceMs;
    life.sameDay(BEFORE);
  }
  for (let run = 0; run < 3_000; run++) {
    const time = run * everyMs;
    life.now = START + time + (wrongRuns.includes(run) ? offMs : 0);
    const upstream = run < firstSeen ? BEFORE : AFTER;
    if (isNew === true) life.recorded = [];
    life.sameDay(isNew === true ? withBern(upstream) : upstream);
    if (life.airport("BSL")?.name === "Ghost") return time - firstSeen * everyMs;
  }
  throw new Error("no run has accepted the change");
}

const SETBACKS = [1, 11, 23, 24, 35, 36, 37, 48, 72, 96, 24 * 400].map((hours) => -hours * HOUR_MS);
const INTERVALS = [1, 6, 12, 24].map((hours) => hours * HOUR_MS);

/** Those in which each wrong run is dated before the end of the last right one: no other can be told. */
const rows = SETBACKS.flatMap((offMs) =>
  INTERVALS.flatMap((everyMs) =>
    [[10], [10, 11], [10, 11, 12, 13]]
      .filter((wrongRuns) => wrongRuns.length * everyMs <= -offMs)
      .map((wrongRuns) => [offMs, everyMs, wrongRuns] as const),
  ),
);

describe("a change that runs see while the clock is set back", () => {
  it.each(rows)("waits no shorter: by %i ms, runs every %i ms, wrong %j", (...row) => {
    const [offMs, everyMs, wrongRuns] = row;
    for (let firstSeen = 6; firstSeen <= 15; firstSeen++) {
      const waited = waitOf({ offMs, wrongRuns, everyMs, firstSeen });
      expect(waited, `first seen by run ${firstSeen}`).toBeGreaterThanOrEqual(
        HOLD_MS - LATENESS_MS,
      );
      // A clock that was off by more than a gap restarts the wait.
      const most = Math.min(-offMs, GAP_MS) + wrongRuns.length * everyMs + GAP_MS + 2 * everyMs;
      expect(waited, `first seen by run ${firstSeen}`).toBeLessThanOrEqual(2 * HOLD_MS + most);
    }
  });

  it.each([
    ["a clock was 400 days fast once", { onceMs: 400 * DAY_MS }],
    ["the coordinator knows of no run before", { isNew: true }],
  ])("waits no shorter though %s", (_, others) => {
    for (let firstSeen = 6; firstSeen <= 15; firstSeen++) {
      const clock = { offMs: -DAY_MS, wrongRuns: [10, 11], everyMs: 6 * HOUR_MS, firstSeen };
      const waited = waitOf({ ...clock, ...others });
      expect(waited, `first seen by run ${firstSeen}`).toBeGreaterThanOrEqual(
        HOLD_MS - LATENESS_MS,
      );
    }
  });

  it("has rows for a day, as daily and hourly runs meet it", () => {
    const days = rows.filter(([offMs, , { length }]) => offMs === -DAY_MS && length === 1);
    expect(days.map(([, everyMs]) => everyMs)).toEqual(INTERVALS);
  });
});

describe("a change that runs see while the clock is fast", () => {
  const AHEAD = [1, 11, 12, 24, 30, 35, 36, 37, 72, 24 * 400].map((hours) => hours * HOUR_MS);
  const cases = AHEAD.flatMap((offMs) => INTERVALS.map((everyMs) => [offMs, everyMs] as const));

  it.each(cases)(
    "waits shorter by no more than the page says: by %i ms, runs every %i ms",
    (offMs, everyMs) => {
      expect(readFileSync("docs/upstream.md", "utf8")).toContain(
        "A clock that is up to 36 hours fast shortens a wait by as much; one that was set back shortens none.",
      );
      const shortened = offMs <= GAP_MS ? offMs : 0;
      for (let firstSeen = 6; firstSeen <= 15; firstSeen++) {
        const waited = waitOf({ offMs, wrongRuns: [10, 11], everyMs, firstSeen });
        expect(waited, `first seen by run ${firstSeen}`).toBeGreaterThanOrEqual(
          HOLD_MS - LATENESS_MS - shortened,
        );
      }
    },
  );
});
