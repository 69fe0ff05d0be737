import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AlertTrack, newTrack, nextTrack } from "../../../src/alerts/alert-state.ts";
import {
  afterDelivery,
  type Change,
  CHANGES,
  owedChange,
  quietUntil,
  type Told,
} from "../../../src/alerts/ledger.ts";
import type { Verdict } from "../../../src/alerts/rule.ts";

const MINUTE_MS = 60_000;
const REPEAT_MS = 240 * MINUTE_MS;

/** What happens at one evaluation. */
interface Step {
  readonly verdict: Verdict;
  /** Time since the evaluation before. */
  readonly afterMs: number;
  readonly delivers: boolean;
  readonly suppressed: boolean;
}

interface Sent {
  readonly at: number;
  readonly change: Change;
  readonly state: AlertTrack["state"];
}

/** One alert and one target, evaluation by evaluation. */
class Play {
  track: AlertTrack = newTrack(0);
  told: Told | null = null;
  now = 0;
  readonly delivered: Sent[] = [];
  readonly #forMs: number;

  constructor(forMs = 0) {
    this.#forMs = forMs;
  }

  /** What the target was owed. */
  evaluate({ verdict, afterMs, delivers, suppressed }: Step): Change | null {
    this.now += afterMs;
    this.track = nextTrack(this.track, verdict, { now: this.now, forMs: this.#forMs });
    const context = { now: this.now, repeatMs: REPEAT_MS, suppressed };
    const change = owedChange(this.track, this.told, context);
    if (change === null || !delivers) return change;
    this.told = afterDelivery(this.track, this.told, { change, now: this.now });
    this.delivered.push({ at: this.now, change, state: this.track.state });
    return change;
  }

  /** What was owed at evaluations five minutes apart, with findings such as `bbgg`. */
  run(findings: string, changes: Partial<Step> = {}): (Change | null)[] {
    return findings.split("").map((symbol) =>
      this.evaluate({
        verdict: VERDICTS[symbol] ?? "good",
        afterMs: 5 * MINUTE_MS,
        delivers: true,
        suppressed: false,
        ...changes,
      }),
    );
  }
}

const VERDICTS: { readonly [symbol: string]: Verdict } = { g: "good", b: "bad", n: "nodata" };

describe("what a target is owed", () => {
  it("is one message when the alert fires and one when it is resolved", () => {
    expect(new Play().run("gbbbggg")).toEqual([null, "fired", null, null, null, "resolved", null]);
  });

  it("is owed again at each evaluation until it is delivered, and then never", () => {
    const play = new Play();
    expect(play.run("bbb", { delivers: false })).toEqual(["fired", "fired", "fired"]);
    expect(play.run("bb")).toEqual(["fired", null]);
  });

  it("is nothing about an alert that is over before anybody was told of it", () => {
    const play = new Play();
    expect(play.run("b", { delivers: false })).toEqual(["fired"]);
    expect(play.run("gggg")).toEqual([null, null, null, null]);
  });

  it("is the end of an alert for as long as that is not delivered", () => {
    const play = new Play();
    play.run("b");
    expect(play.run("ggg", { delivers: false })).toEqual([null, "resolved", "resolved"]);
    expect(play.run("gg")).toEqual(["resolved", null]);
  });

  it("is no second beginning where the end in between was never told", () => {
    const play = new Play();
    play.run("b");
    play.run("gg", { delivers: false });
    expect(play.run("bb")).toEqual([null, null]);
    expect(play.run("gg")).toEqual([null, "resolved"]);
  });

  it.each([
    [REPEAT_MS - 1, null],
    [REPEAT_MS, "repeated"],
    [REPEAT_MS + 1, "repeated"],
  ])("is a repetition %i ms after the last message: %s", (afterMs, change) => {
    const play = new Play();
    play.run("b");
    expect(play.run("b", { afterMs })).toEqual([change]);
  });

  it("is that there is no data once that has lasted, also of an alert that fires", () => {
    expect(new Play().run("nnn")).toEqual([null, "nodata", null]);
    expect(new Play().run("bnnbngg")).toEqual([
      "fired",
      "nodata",
      null,
      null,
      null,
      null,
      "resolved",
    ]);
  });

  it("is nothing of an alert that a pause excuses, but its end; and the rest after the pause", () => {
    const play = new Play();
    expect(play.run("bb", { suppressed: true })).toEqual([null, null]);
    expect(play.run("b")).toEqual(["fired"]);
    expect(play.run("b", { suppressed: true, afterMs: REPEAT_MS })).toEqual([null]);
    expect(play.run("gg", { suppressed: true })).toEqual([null, "resolved"]);
  });

  it("waits for the repeat interval where an alert comes back, and is told if it lasts", () => {
    const play = new Play();
    play.run("bgg");
    expect(play.run("bb")).toEqual([null, null]);
    expect(play.run("b", { afterMs: REPEAT_MS })).toEqual(["fired"]);
  });

  it("comes with the time until which it would be held back", () => {
    const play = new Play();
    play.run("bgg");
    const context = { now: play.now, repeatMs: REPEAT_MS };
    expect(quietUntil(play.told, context)).toBe(5 * MINUTE_MS + REPEAT_MS);
    expect(quietUntil(play.told, { ...context, now: 5 * MINUTE_MS + REPEAT_MS })).toBeNull();
    expect(quietUntil(null, context)).toBeNull();
  });
});

const aStep = fc.record({
  verdict: fc.constantFrom<Verdict>("good", "good", "bad", "bad", "nodata"),
  afterMs: fc.oneof(fc.constant(5 * MINUTE_MS), fc.integer({ min: 0, max: 2 * REPEAT_MS })),
  delivers: fc.boolean(),
  suppressed: fc.constantFrom(false, false, false, true),
});
const steps = fc.array(aStep, { minLength: 1, maxLength: 60, size: "max" });
const forMs = fc.constantFrom(0, 4 * MINUTE_MS, 14 * MINUTE_MS);

/** One evaluation as it was played. */
interface Played {
  readonly step: Step;
  readonly before: AlertTrack;
  readonly after: AlertTrack;
}

/** Plays any steps, and lets a rule name what breaks it. */
function expectNeverToBreak(
  rule: (play: Play, played: readonly Played[]) => readonly unknown[],
): void {
  fc.assert(
    fc.property(forMs, steps, (lasting, planned) => {
      const play = new Play(lasting);
      const played = planned.map((step): Played => {
        const before = play.track;
        play.evaluate(step);
        return { step, before, after: play.track };
      });
      expect(rule(play, played)).toEqual([]);
    }),
    { seed: 20_261_120, numRuns: 2_000 },
  );
}

/** Each message with those since the end that was told last. */
function episodes(delivered: readonly Sent[]): { sent: Sent; since: readonly Change[] }[] {
  return delivered.map((sent, index) => {
    const earlier = delivered.slice(0, index).map(({ change }) => change);
    return { sent, since: earlier.slice(earlier.lastIndexOf("resolved") + 1) };
  });
}

describe("whatever is found, delivered and excused, in whatever order,", () => {
  it("no end is told of what was not told", () => {
    expectNeverToBreak(({ delivered }) =>
      episodes(delivered).filter(
        ({ sent, since }) =>
          sent.change === "resolved" && !since.includes("fired") && !since.includes("nodata"),
      ),
    );
  });

  it("nothing is told a second time as new without its end in between", () => {
    expectNeverToBreak(({ delivered }) =>
      episodes(delivered).filter(
        ({ sent: { change }, since }) =>
          (change === "fired" || change === "nodata") && since.includes(change),
      ),
    );
  });

  it("nothing is repeated that was not told", () => {
    expectNeverToBreak(({ delivered }) =>
      episodes(delivered).filter(
        ({ sent: { change, state }, since }) =>
          change === "repeated" && !since.includes(state === "firing" ? "fired" : "nodata"),
      ),
    );
  });

  it("a flapping input notifies no more than the repeat interval allows", () => {
    expectNeverToBreak(({ delivered }) =>
      (["firing", "nodata"] as const).flatMap((state) => {
        const raising = delivered.filter(
          (sent) => sent.change !== "resolved" && sent.state === state,
        );
        return raising
          .slice(1)
          .filter(({ at }, index) => at - (raising[index]?.at ?? 0) < REPEAT_MS);
      }),
    );
  });

  it("an alert begins to fire only with a bad finding", () => {
    expectNeverToBreak((_, played) =>
      played.filter(
        ({ step, before, after }) =>
          before.state !== "firing" && after.state === "firing" && step.verdict !== "bad",
      ),
    );
  });

  it("only what was raised is resolved, after two good findings in a row", () => {
    expectNeverToBreak((_, played) =>
      played.filter(({ before, after }, index) => {
        const verdicts = played.slice(Math.max(0, index - 1), index + 1).map(({ step }) => step);
        const isWell = verdicts.length === 2 && verdicts.every(({ verdict }) => verdict === "good");
        return after.state === "resolved" && (before.raisedAt === null || !isWell);
      }),
    );
  });

  it("once all is well and messages arrive, nobody believes otherwise", () => {
    expectNeverToBreak((play) => {
      play.run("ggg");
      const isQuiet = play.run("g")[0] === null;
      return play.told?.isOpen === true || !isQuiet ? [play.told] : [];
    });
  });

  it("once it stays bad and messages arrive, everybody knows within the repeat interval", () => {
    expectNeverToBreak((play) => {
      play.run("bbbb");
      play.run("b", { afterMs: REPEAT_MS });
      return play.told?.isOpen === true && play.told.saidFired ? [] : [play.told];
    });
  });

  it("every kind of message is among those that were played", () => {
    const seen = new Set<Change>();
    expectNeverToBreak(({ delivered }) => {
      for (const { change } of delivered) seen.add(change);
      return [];
    });
    expect([...seen].toSorted()).toEqual([...CHANGES].toSorted());
  });
});
