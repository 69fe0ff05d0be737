import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AlertTrack, newTrack, nextTrack } from "../../../src/alerts/alert-state.ts";
import { ALERT_CHANGES, type AlertChange } from "../../../src/alerts/alert-run.ts";
import type { DeliveryRecord } from "../../../src/alerts/monitor-state.ts";
import {
  afterDelivery,
  asUndelivered,
  type ChangeKey,
  dueChange,
  intoMessages,
} from "../../../src/alerts/notifier.ts";
import type { FindingVerdict } from "../../../src/health/rule.ts";

const MINUTE_MS = 60_000;
const REPEAT_MS = 240 * MINUTE_MS;

/** What happens at one evaluation. */
interface Step {
  readonly verdict: FindingVerdict;
  /** Time since the evaluation before. */
  readonly afterMs: number;
  readonly delivers: boolean;
  readonly suppressed: boolean;
}

interface Sent {
  readonly at: number;
  readonly change: AlertChange;
  readonly state: AlertTrack["state"];
}

/** One alert and one target, evaluation by evaluation. */
class Play {
  track: AlertTrack = newTrack(0);
  record: DeliveryRecord | null = null;
  now = 0;
  readonly delivered: Sent[] = [];
  readonly #forMs: number;

  constructor(forMs = 0) {
    this.#forMs = forMs;
  }

  /** What was due. */
  evaluate({ verdict, afterMs, delivers, suppressed }: Step): AlertChange | null {
    this.now += afterMs;
    this.track = nextTrack(this.track, verdict, { now: this.now, forMs: this.#forMs });
    const context = { now: this.now, repeatMs: REPEAT_MS, suppressed };
    const change = dueChange(this.track, this.record, context);
    if (change === null || !delivers) return change;
    const raisedAt = this.record?.isOpen === true ? this.record.raisedAt : this.track.raisedAt;
    const startsAt = new Date(raisedAt ?? this.now).toISOString();
    this.record = afterDelivery(this.record, { change, startsAt, severities: ["fail"] }, this.now);
    this.delivered.push({ at: this.now, change, state: this.track.state });
    return change;
  }

  /** What was due at evaluations five minutes apart, with findings such as `bbgg`. */
  run(findings: string, changes: Partial<Step> = {}): (AlertChange | null)[] {
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

const VERDICTS: { readonly [symbol: string]: FindingVerdict } = {
  g: "good",
  b: "bad",
  n: "nodata",
};

describe("the message that is due to a target", () => {
  it.each([
    ["when the alert fires and when it is resolved", "gbbbggg", "- fired - - - resolved -"],
    [
      "for a new incident at once, however recently the last one was resolved",
      "bggbbggb",
      "fired - resolved fired - - resolved fired",
    ],
    ["for missing data once that has lasted", "nnn", "- nodata -"],
    ["for missing data of a firing alert", "bnnbngg", "fired nodata - - - - resolved"],
  ])("has the kind %s: %s", (_, findings, due) => {
    const changes = new Play().run(findings).map((change) => change ?? "-");
    expect(changes.join(" ")).toBe(due);
  });

  it("stays due at each evaluation until it is delivered, and is then never due again", () => {
    const play = new Play();
    expect(play.run("bbb", { delivers: false })).toEqual(["fired", "fired", "fired"]);
    expect(play.run("bb")).toEqual(["fired", null]);
  });

  it("disappears if the alert ends before the target has heard of it", () => {
    const play = new Play();
    expect(play.run("b", { delivers: false })).toEqual(["fired"]);
    expect(play.run("gggg")).toEqual([null, null, null, null]);
  });

  it.each([
    [REPEAT_MS - 1, null],
    [REPEAT_MS, "repeated"],
    [REPEAT_MS + 1, "repeated"],
  ])("repeats an open alert %i ms after the last message: %s", (ms, change) => {
    const play = new Play();
    play.run("b");
    expect(play.run("b", { afterMs: ms })).toEqual([change]);
  });

  it("says only that an alert ended if a pause excuses it, and announces it again after the pause", () => {
    const play = new Play();
    expect(play.run("bb", { suppressed: true })).toEqual([null, null]);
    expect(play.run("b")).toEqual(["fired"]);
    expect(play.run("b", { suppressed: true, afterMs: REPEAT_MS })).toEqual([null]);
    expect(play.run("gg", { suppressed: true })).toEqual([null, "resolved"]);
  });
});

const aStep = fc.record({
  verdict: fc.constantFrom<FindingVerdict>("good", "good", "bad", "bad", "nodata"),
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
    { seed: 20_261_120, numRuns: 1_000 },
  );
}

/** Each message with those since the last end that was delivered. */
function episodes(delivered: readonly Sent[]): { sent: Sent; since: readonly Sent[] }[] {
  return delivered.map((sent, index) => {
    const earlier = delivered.slice(0, index);
    const end = earlier.findLastIndex(({ change }) => change === "resolved");
    return { sent, since: earlier.slice(end + 1) };
  });
}

describe("any sequence of findings, deliveries and pauses", () => {
  it("delivers an end only after a beginning", () => {
    expectNeverToBreak(({ delivered }) =>
      episodes(delivered).filter(({ sent, since }) => sent.change === "resolved" && !since.length),
    );
  });

  it("delivers nothing as new twice without an end in between", () => {
    expectNeverToBreak(({ delivered }) =>
      episodes(delivered).filter(
        ({ sent: { change }, since }) =>
          (change === "fired" || change === "nodata") && since.some((one) => one.change === change),
      ),
    );
  });

  it("repeats an open alert only by the clock", () => {
    expectNeverToBreak(({ delivered }) =>
      episodes(delivered).filter(
        ({ sent: { change, at }, since }) =>
          change === "repeated" && at - (since.at(-1)?.at ?? at) < REPEAT_MS,
      ),
    );
  });

  it("resolves only what was raised, after two good findings in a row", () => {
    expectNeverToBreak((_, played) =>
      played.filter(({ before, after }, index) => {
        const verdicts = played.slice(Math.max(0, index - 1), index + 1).map(({ step }) => step);
        const isWell = verdicts.length === 2 && verdicts.every(({ verdict }) => verdict === "good");
        return after.state === "resolved" && (before.raisedAt === null || !isWell);
      }),
    );
  });

  it("leaves nobody with an open alert once all is well and messages arrive", () => {
    expectNeverToBreak((play) => {
      play.run("ggg");
      const isQuiet = play.run("g")[0] === null;
      return play.record?.isOpen === true || !isQuiet ? [play.record] : [];
    });
  });

  it("reaches everybody once the finding stays bad long enough and messages arrive", () => {
    expectNeverToBreak((play) => {
      play.run("bbbb");
      return play.record?.isOpen === true && play.record.saidFired ? [] : [play.record];
    });
  });

  it("includes every kind of message", () => {
    const seen = new Set<AlertChange>();
    expectNeverToBreak(({ delivered }) => {
      for (const { change } of delivered) seen.add(change);
      return [];
    });
    expect([...seen].toSorted()).toEqual([...ALERT_CHANGES].toSorted());
  });
});

describe("the id of a message", () => {
  const key: ChangeKey = {
    fingerprint: "00112233445566aa",
    change: "fired",
    startsAt: "2026-11-20T11:55:00.000Z",
    deliveredAt: null,
  };
  const other: ChangeKey = { ...key, fingerprint: "ffeeddccbbaa9988" };
  const idOf = (target: string, changes: readonly ChangeKey[]) => [
    ...intoMessages(target, changes, {}).keys(),
  ];

  it("stays the same for the same changes in any order", () => {
    expect(idOf("ops", [other, key])).toEqual(idOf("ops", [key, other]));
    expect(idOf("ops", [key])).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
  });

  it.each<[string, readonly ChangeKey[]]>([
    ["another change", [{ ...key, change: "resolved" }]],
    ["another alert", [other]],
    ["one alert more", [key, other]],
    ["the alert when it fires anew", [{ ...key, startsAt: "2026-11-21T11:55:00.000Z" }]],
    ["the next repetition", [{ ...key, deliveredAt: "2026-11-20T11:55:00.000Z" }]],
  ])("changes with %s", (_, changes) => {
    expect(idOf("ops", changes)).not.toEqual(idOf("ops", [key]));
  });

  it("differs from that of the same changes for another target", () => {
    expect(idOf("chat", [key])).not.toEqual(idOf("ops", [key]));
  });

  it("stays that of an undelivered message, and later changes go into a message of their own", () => {
    const first = intoMessages("ops", [key], {});
    const [id = ""] = first.keys();
    const second = [...intoMessages("ops", [other, key], asUndelivered(first))];
    expect(second).toHaveLength(2);
    expect(new Map(second).get(id)).toEqual([key]);
    expect(second.find(([name]) => name !== id)?.[1]).toEqual([other]);
  });

  it("stays the same if some of its changes are no longer due", () => {
    const both = intoMessages("ops", [key, other], {});
    expect([...intoMessages("ops", [other], asUndelivered(both))]).toEqual([
      [[...both.keys()][0], [other]],
    ]);
  });
});
