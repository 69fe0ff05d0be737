import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Decision } from "../../../src/acceptance/held-change.ts";
import { compareText } from "../../../src/catalog/integrity.ts";
import { airportNumber, UpstreamLife } from "../../builders/upstream-life.ts";

const HOUR_MS = 60 * 60 * 1000;
const CODES = ["AAA", "BBB", "CCC"] as const;
/** Names of two words each: two that share no word are a surprise. */
const NAMES = ["Alpha", "Bravo", "Charlie"].flatMap((first) =>
  ["Xylon", "Yankee"].map((second) => `${first} ${second}`),
);
const isSurprise = (before: string, after: string) =>
  !before.split(" ").some((word) => after.split(" ").includes(word));

/** What happens before and in one run. */
const anyRun = fc.record({
  days: fc.constantFrom(1, 1, 1, 1, 1, 2, 3),
  /** What upstream says; null: what it said before. */
  names: fc.tuple(...CODES.map(() => fc.option(fc.constantFrom(...NAMES), { freq: 2, nil: null }))),
  decision: fc.option(
    fc.record({
      airport: fc.constantFrom(...CODES),
      verdict: fc.constantFrom("approved" as const, "rejected" as const),
    }),
    { freq: 3 },
  ),
  /** Number of runs to take back before it. */
  rollback: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1, 2, 5),
});

type Run = typeof anyRun extends fc.Arbitrary<infer R> ? R : never;

/** A claim of upstream's that is not served. */
interface Claim {
  readonly name: string;
  readonly state: "waiting" | "approved" | "rejected";
  readonly since: number;
  readonly seen: number;
}

/** An airport's name by the rules in docs/upstream.md, in the plainest form. */
interface Model {
  readonly served: string;
  /** The last name that has stood for three days, if the one that is served has not. */
  readonly former: { readonly name: string; readonly since: number; readonly seen: number } | null;
  readonly claims: readonly Claim[];
}

const FIRST: Model = { served: "Alpha Xylon", former: null, claims: [] };
const sinceWhen = (known: { since: number; seen: number } | undefined, now: number) =>
  known === undefined || now - known.seen > 36 * HOUR_MS ? now : known.since;
const isLong = (since: number, now: number) => now - since >= 71 * HOUR_MS;

type Verdicts = ReadonlyMap<string, Decision["verdict"]>;

/** @param verdicts decisions by name. */
function follow(model: Model, name: string, verdicts: Verdicts, now: number): Model {
  const { served, former, claims } = model;
  if (name === served) {
    const since = sinceWhen(former ?? undefined, now);
    const isSettled = former === null || isLong(since, now);
    return { served, former: isSettled ? null : { ...former, since, seen: now }, claims: [] };
  }
  const known = claims.find((claim) => claim.name === name);
  const since = sinceWhen(known, now);
  const state = verdicts.get(name) ?? known?.state ?? "waiting";
  const before = former?.name ?? served;
  const hasWaited = state === "approved" || (state === "waiting" && isLong(since, now));
  if (hasWaited) return { served: name, former: null, claims: [] };
  if (state === "waiting" && !isSurprise(before, name)) {
    const next = before === name ? null : { name: before, since: now, seen: now };
    return { served: name, former: next, claims: [] };
  }
  const rejected = claims.filter((each) => each.state === "rejected" && each.name !== name);
  return { served, former, claims: [...rejected, { name, state, since, seen: now }] };
}

/** A wiki, the ledger and the model of it. */
class Wiki {
  readonly life = new UpstreamLife(CODES.map((_, number) => anAirport(number, FIRST.served)));
  models: readonly Model[] = CODES.map(() => FIRST);
  readonly #said: string[] = CODES.map(() => FIRST.served);
  readonly #decisions: (Decision & { readonly airport: string; readonly name: string })[] = [];
  readonly #versions: { ledger: UpstreamLife["ledger"]; models: readonly Model[] }[] = [];

  /** Decides about what waits of an airport. */
  decide(iata: string, verdict: Decision["verdict"]): void {
    const held = this.life.held().find((each) => each.iata === iata && each.state === "waiting");
    if (held === undefined) return;
    const { id, airport } = held;
    const made = { id, verdict, by: "ops", at: "2026-11-02T00:00:00.000Z", note: null };
    this.#decisions.push({ ...made, airport, name: String(held.after?.["name"]) });
  }

  rollBack(runs: number): void {
    const version = this.#versions.at(-1 - runs);
    if (runs === 0 || version === undefined) return;
    this.life.ledger = version.ledger;
    this.models = version.models;
  }

  run({ names, days }: Omit<Run, "decision" | "rollback">): void {
    for (const [index, name] of names.entries()) if (name !== null) this.#said[index] = name;
    const airports = this.#said.map((name, number) => anAirport(number, name));
    this.life.skipDays(days - 1);
    this.life.nextDay(airports, { decisions: this.#decisions });
    this.models = this.models.map((model, number) => {
      const its = this.#decisions.filter(({ airport }) => airport === String(1 + number));
      const verdicts = new Map(its.map(({ name, verdict }) => [name, verdict]));
      return follow(model, this.#said[number] ?? "", verdicts, this.life.now);
    });
    // Approvals have been followed. Rejections hold for good.
    const rejections = this.#decisions.filter(({ verdict }) => verdict === "rejected");
    this.#decisions.splice(0, Infinity, ...rejections);
    this.#versions.push({ ledger: this.life.ledger, models: this.models });
  }
}

function anAirport(number: number, name: string) {
  return airportNumber(1 + number, CODES[number] ?? "", { name });
}

describe("any life of a wiki, with decisions, gaps and rollbacks", () => {
  it("serves and holds what the rules say", () => {
    const ends = { held: 0, accepted: 0 };
    fc.assert(
      fc.property(fc.array(anyRun, { minLength: 5, maxLength: 30 }), (runs) => {
        const wiki = new Wiki();
        for (const { decision, rollback, ...run } of runs) {
          wiki.rollBack(rollback);
          if (decision !== null) wiki.decide(decision.airport, decision.verdict);
          wiki.run(run);
          const served = wiki.life.ledger.accepted.airports.map(({ name }) => name);
          expect(served).toEqual(wiki.models.map((model) => model.served));
          const held = wiki.life
            .held()
            .map(({ airport, after, state }) => `${airport} ${String(after?.["name"])} ${state}`);
          const claims = wiki.models.flatMap((model, number) =>
            model.claims.map(({ name, state }) => `${1 + number} ${name} ${state}`),
          );
          expect(held.toSorted(compareText)).toEqual(claims.toSorted(compareText));
          ends.held += held.length;
          ends.accepted += served.filter((name) => name !== FIRST.served).length;
        }
      }),
      { numRuns: 200 },
    );
    expect(ends.held).toBeGreaterThan(100);
    expect(ends.accepted).toBeGreaterThan(100);
  });
});
