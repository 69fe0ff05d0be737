import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AlertTrack, newTrack, nextTrack } from "../../../src/monitor/alert-state.ts";
import { ALERT_CHANGES, type AlertChange } from "../../../src/schemas/alert-run.ts";
import {
  afterDelivery,
  beforeDelivery,
  type DueNotice,
  dueChange,
  type KnownAlert,
  NEW_TARGET,
  noticesDue,
  type TargetRecord,
} from "../../../src/monitor/deliveries.ts";
import type { FindingVerdict } from "../../../src/monitor/rule.ts";
import { anAlertResult } from "../../builders/alert-run.ts";

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
  readonly raisedAt: number | null;
}

const fingerprint = "00112233445566aa";

/** One alert and one target, evaluation by evaluation. */
class Play {
  track: AlertTrack = newTrack(0);
  target: TargetRecord = NEW_TARGET;
  now = 0;
  readonly delivered: Sent[] = [];
  readonly #forMs: number;
  readonly #forgets: boolean;

  constructor({ forMs = 0, forgets = false } = {}) {
    this.#forMs = forMs;
    this.#forgets = forgets;
  }

  /** The alert as the target knows it. */
  get known(): KnownAlert | undefined {
    return this.target.known[fingerprint];
  }

  /** What was due. */
  evaluate({ verdict, afterMs, delivers, suppressed }: Step): AlertChange | null {
    this.now += afterMs;
    this.track = nextTrack(this.track, verdict, { now: this.now, forMs: this.#forMs });
    const { raisedAt } = this.track;
    const context = { now: this.now, repeatMs: REPEAT_MS, forgets: this.#forgets, suppressed };
    const change = dueChange(this.track, this.known, context);
    if (change === null || !delivers) return change;
    const startsAt = new Date(raisedAt ?? this.now).toISOString();
    const notice = { fingerprint, change, startsAt, severities: ["fail"] } as const;
    this.target = afterDelivery(this.target, [notice], this.now);
    this.delivered.push({ at: this.now, change, raisedAt });
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
const aTarget = fc.record({
  forMs: fc.constantFrom(0, 4 * MINUTE_MS, 14 * MINUTE_MS),
  forgets: fc.boolean(),
});

/** One evaluation as it was played. */
interface Played {
  readonly step: Step;
  readonly before: AlertTrack;
  readonly after: AlertTrack;
  /** What the target knew before. */
  readonly known: KnownAlert | undefined;
  readonly due: AlertChange | null;
}

/** Plays any steps, and lets a rule name what breaks it. */
function expectNeverToBreak(
  rule: (play: Play, played: readonly Played[], forgets: boolean) => readonly unknown[],
): void {
  fc.assert(
    fc.property(aTarget, steps, (target, planned) => {
      const play = new Play(target);
      const played = planned.map((step): Played => {
        const before = play.track;
        const { known } = play;
        const due = play.evaluate(step);
        return { step, before, known, due, after: play.track };
      });
      expect(rule(play, played, target.forgets)).toEqual([]);
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
  it("delivers an end only after a start", () => {
    expectNeverToBreak(({ delivered }) =>
      episodes(delivered).filter(({ sent, since }) => sent.change === "resolved" && !since.length),
    );
  });

  it("delivers nothing of an incident as new twice", () => {
    expectNeverToBreak(({ delivered }) =>
      delivered.filter(
        ({ change, raisedAt }, index) =>
          (change === "fired" || change === "nodata") &&
          delivered
            .slice(0, index)
            .some((one) => one.change === change && one.raisedAt === raisedAt),
      ),
    );
  });

  it("repeats an open alert only by the clock, unless the target forgets it", () => {
    expectNeverToBreak(({ delivered }, _, forgets) =>
      episodes(delivered).filter(
        ({ sent: { change, at }, since }) =>
          !forgets && change === "repeated" && at - (since.at(-1)?.at ?? at) < REPEAT_MS,
      ),
    );
  });

  it("is silent at no evaluation about an alert that a target knows and would forget", () => {
    expectNeverToBreak((_, played, forgets) =>
      played.filter(
        ({ known, due, after }) =>
          forgets &&
          due === null &&
          known !== undefined &&
          (after.raisedAt === null || known.raisedAt === after.raisedAt),
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
      return play.known !== undefined || !isQuiet ? [play.known] : [];
    });
  });

  it("reaches everybody once the finding stays bad long enough and messages arrive", () => {
    expectNeverToBreak((play) => {
      play.run("bbbb");
      const { known, track } = play;
      return known?.raisedAt === track.raisedAt && known?.notified.includes("fired") ? [] : [known];
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
  const [first, second] = ["00112233445566aa", "ffeeddccbbaa9988"];
  const raised = { ...newTrack(0), state: "firing", raisedAt: 0 } as const;
  /** What is due at the evaluation `newId`, as `fingerprint change: id`. */
  const due = (
    record: TargetRecord,
    newId: string,
    prints: readonly string[],
    track: AlertTrack = raised,
  ) =>
    noticesDue(
      record,
      prints.map((print) => {
        const result = anAlertResult({ fingerprint: print });
        return { record: { track, last: result }, result, transition: null };
      }),
      { now: 0, repeatMs: REPEAT_MS, forgets: false, newId },
    );
  const idsOf = (notices: readonly DueNotice[]) => notices.map(({ messageId }) => messageId);
  const both = due(NEW_TARGET, "id 1", [first, second]);
  const waiting = beforeDelivery(NEW_TARGET, both);

  it("stays that of an undelivered message, and news go into a message of their own", () => {
    expect(idsOf(due(waiting, "id 2", [first, "1234", second]))).toEqual(["id 1", "id 2", "id 1"]);
  });

  it("is another for a change that was not due in between, because the message may have arrived", () => {
    const one = due(waiting, "id 2", [second]);
    expect(idsOf(one)).toEqual(["id 1"]);
    const next = beforeDelivery(waiting, one);
    expect(idsOf(due(next, "id 3", [first, second]))).toEqual(["id 3", "id 1"]);
  });

  it("is another once the change is another", () => {
    const nodata = { ...raised, state: "nodata" } as const;
    expect(idsOf(due(waiting, "id 2", [first], nodata))).toEqual(["id 2"]);
  });
});
