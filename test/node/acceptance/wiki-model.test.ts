import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Decision } from "../../../src/acceptance/decisions.ts";
import { compareText } from "../../../src/catalog/integrity.ts";
import { airportNumber, UpstreamLife } from "../../builders/upstream-life.ts";

const HOUR_MS = 60 * 60 * 1000;
const CODES = ["AAA", "BBB", "CCC"] as const;
/** A hundredth of a degree of latitude: 1.1 km. */
const STEP = 0.01;

/** An airport as upstream writes it; null if it has no row. */
type Written = { readonly name: string; readonly isUsed: boolean; readonly steps: number } | null;

const FIRST: Written = { name: "Alpha", isUsed: true, steps: 0 };

const anyWritten = fc.oneof(
  fc.record({
    name: fc.constantFrom("Alpha", "Alpha", "Bravo"),
    isUsed: fc.constantFrom(true, true, false),
    steps: fc.constantFrom(0, 0, 1, 2, 3),
  }),
  fc.constantFrom(FIRST, FIRST, null),
);

/** What happens before and in one run. */
const anyRun = fc.record({
  days: fc.constantFrom(1, 1, 1, 1, 1, 2, 3),
  /** What upstream says of each airport; undefined: what it said before. */
  written: fc.tuple(...CODES.map(() => fc.option(anyWritten, { freq: 2, nil: undefined }))),
  decision: fc.option(
    fc.record({
      airport: fc.nat({ max: CODES.length - 1 }),
      verdict: fc.constantFrom("approved" as const, "rejected" as const),
    }),
    { freq: 3 },
  ),
  /** Number of runs to take back before it. */
  rollback: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1, 2, 5),
});

type Run = typeof anyRun extends fc.Arbitrary<infer R> ? R : never;

/** What upstream says and nobody is served. */
interface Claim {
  readonly key: string;
  readonly state: "waiting" | "approved" | "rejected";
  readonly since: number;
  readonly wantedSince: number;
  readonly seen: number;
}

/** An airport by the rules in docs/upstream.md, in the plainest form. */
interface Model {
  readonly served: Written;
  /** The last position that has waited. */
  readonly anchor: number;
  readonly claim: Claim | null;
}

const FIRST_MODEL: Model = { served: FIRST, anchor: 0, claim: null };

type Verdicts = ReadonlyMap<string, Decision["verdict"]>;

/** @param verdicts decisions by key of the claim. */
function follow(model: Model, said: Written, verdicts: Verdicts, now: number): Model {
  const { claim, anchor } = model;
  // Two steps are 2.2 km.
  const isInPlace = said !== null && model.served !== null && Math.abs(said.steps - anchor) < 2;
  const served = isInPlace && model.served ? { ...model.served, steps: said.steps } : model.served;
  if (JSON.stringify(said) === JSON.stringify(served)) return { served, anchor, claim: null };
  const key = said && `${said.name} ${said.isUsed} ${isInPlace ? "in place" : said.steps}`;
  const isSeen = claim !== null && now - claim.seen <= 36 * HOUR_MS;
  const isSame = claim?.key === String(key);
  const wantedSince = isSeen && isSame ? claim.wantedSince : now;
  const since = isSeen && (isSame || claim.state === "waiting") ? claim.since : now;
  const state = verdicts.get(String(key)) ?? (isSame ? claim.state : "waiting");
  const days = said === null ? 30 : 3;
  const isOver = now - wantedSince >= (days * 24 - 1) * HOUR_MS;
  const isFree = state === "approved" || (state === "waiting" && isOver);
  if (isFree) return { served: said, anchor: isInPlace ? anchor : (said?.steps ?? 0), claim: null };
  return { served, anchor, claim: { key: String(key), state, since, wantedSince, seen: now } };
}

/** A wiki, the ledger and the model of it. */
class Wiki {
  readonly life = new UpstreamLife(CODES.flatMap((_, number) => anAirport(number, FIRST)));
  models: readonly Model[] = CODES.map(() => FIRST_MODEL);
  readonly #said: Written[] = CODES.map(() => FIRST);
  readonly #verdicts = CODES.map(() => new Map<string, Decision["verdict"]>());
  readonly #versions: { ledger: UpstreamLife["ledger"]; models: readonly Model[] }[] = [];

  /** Decides about what waits of an airport. */
  decide({ airport: number, verdict }: NonNullable<Run["decision"]>): Decision[] {
    const key = this.models[number]?.claim?.key;
    const held = this.life.held().find(({ airport }) => airport === String(1 + number));
    if (key === undefined || held === undefined) return [];
    this.#verdicts[number]?.set(key, verdict);
    return [{ id: held.id, verdict, by: "ops", at: "2026-11-02T00:00:00.000Z", note: null }];
  }

  rollBack(runs: number): void {
    const version = this.#versions.at(-1 - runs);
    if (runs === 0 || version === undefined) return;
    this.life.ledger = version.ledger;
    this.models = version.models;
  }

  run({ written, days, decision }: Omit<Run, "rollback">): void {
    const decisions = decision === null ? [] : this.decide(decision);
    for (const [index, said] of written.entries()) if (said !== undefined) this.#said[index] = said;
    this.life.skipDays(days - 1);
    this.life.nextDay(
      this.#said.flatMap((said, number) => anAirport(number, said)),
      { decisions },
    );
    this.models = this.models.map((model, number) => {
      const verdicts = this.#verdicts[number] ?? new Map<string, Decision["verdict"]>();
      const next = follow(model, this.#said[number] ?? null, verdicts, this.life.now);
      // Approvals have been followed. Rejections hold for good.
      for (const [key, verdict] of verdicts) if (verdict === "approved") verdicts.delete(key);
      return next;
    });
    this.#versions.push({ ledger: this.life.ledger, models: this.models });
  }
}

function anAirport(number: number, written: Written) {
  if (written === null) return [];
  const { name, isUsed, steps } = written;
  const lat = Math.round((40 + number + steps * STEP) * 1e4) / 1e4;
  return [airportNumber(1 + number, CODES[number] ?? "", { name, scheduled: isUsed, lat })];
}

describe("any life of a wiki, with decisions, gaps and rollbacks", () => {
  it("serves and holds what the rules say", () => {
    const ends = { held: 0, rejected: 0, changed: 0, gone: 0, restarted: 0 };
    fc.assert(
      fc.property(fc.array(anyRun, { minLength: 5, maxLength: 30 }), (runs) => {
        const wiki = new Wiki();
        for (const { rollback, ...run } of runs) {
          wiki.rollBack(rollback);
          wiki.run(run);
          const { life, models } = wiki;
          const expected = models.flatMap(({ served }, number) => anAirport(number, served));
          expect(life.ledger.accepted.airports).toMatchObject(expected);
          const held = life
            .held()
            .map((each) => [each.airport, each.state, each.since, each.wanted_since].join(" "));
          const claims = models.flatMap(({ claim }, number) => {
            if (claim === null) return [];
            const times = [claim.since, claim.wantedSince].map((at) => new Date(at).toISOString());
            return [[1 + number, claim.state, ...times].join(" ")];
          });
          expect(held.toSorted(compareText)).toEqual(claims.toSorted(compareText));
          ends.held += held.length;
          ends.rejected += claims.filter((claim) => claim.includes("rejected")).length;
          ends.changed += expected.filter(({ name }) => name !== FIRST.name).length;
          ends.gone += models.filter(({ served }) => served === null).length;
          ends.restarted += life.held().filter((each) => each.since < each.wanted_since).length;
        }
      }),
      { numRuns: 200 },
    );
    for (const count of Object.values(ends)) expect(count).toBeGreaterThan(20);
  });
});
