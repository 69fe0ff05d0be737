import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recordOf } from "../../../src/acceptance/airport.ts";
import type { SourceAirport } from "../../../src/sources/airport.ts";
import { airportNumber, UpstreamLife } from "../../builders/upstream-life.ts";

const DAYS = 30;
const AIRPORTS = 12;
const code = (number: number) => `X${"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 26]}A`;

/** The world as it truly is at the start: travellers use every second airport. */
const START = Array.from({ length: AIRPORTS }, (_, number) =>
  airportNumber(1 + number, code(number), {
    type: number % 2 === 0 ? "large_airport" : "small_airport",
    scheduled: number % 2 === 0,
    region: `XX-${number % 5}`,
  }),
);

/** What happens to an airport: truly, or by a vandal for some days. */
const HAPPENINGS = {
  renamed: (one: SourceAirport, salt: number) => [{ ...one, name: `Changed${salt} Airport` }],
  recoded: (one: SourceAirport, salt: number) => [{ ...one, iata: `Y${code(salt).slice(1)}` }],
  moved: (one: SourceAirport) => [{ ...one, lat: one.lat - 0.3 }],
  naturalised: (one: SourceAirport) => [{ ...one, country: "AQ" }],
  deleted: () => [],
  opened: (one: SourceAirport, salt: number) => [
    one,
    airportNumber(100 + salt, `Z${code(salt).slice(1)}`),
  ],
} satisfies { readonly [what: string]: (one: SourceAirport, salt: number) => SourceAirport[] };

/** What happens to different airports, so that each can be told from the others. */
const anyHappenings = (whats: readonly (keyof typeof HAPPENINGS)[]) =>
  fc.uniqueArray(
    fc.record({
      airport: fc.nat({ max: AIRPORTS - 1 }),
      what: fc.constantFrom(...whats),
      day: fc.integer({ min: 1, max: DAYS - 5 }),
      /** Days that a vandal's edit lasts; 0 for what is true. */
      lasts: fc.constantFrom(0, 1, 2, 3),
    }),
    { maxLength: 5, selector: ({ airport }) => airport },
  );

/**
 * Upstream may give all rows other numbers on some days. An airport that has moved or has another
 * code on that day is another one then.
 */
const anyLife = fc.oneof(
  fc.record({
    happenings: anyHappenings(["renamed", "recoded", "moved", "naturalised", "deleted", "opened"]),
    renumbered: fc.constant<number[]>([]),
  }),
  fc.record({
    happenings: anyHappenings(["renamed", "naturalised", "deleted"]),
    renumbered: fc.uniqueArray(fc.integer({ min: 1, max: DAYS }), { maxLength: 3 }),
  }),
);

interface Happening {
  readonly airport: number;
  readonly what: keyof typeof HAPPENINGS;
  readonly day: number;
  readonly lasts: number;
}

/** Whether a run on a day sees a happening. An edit of three days is not there on the fourth. */
const isSeen = ({ day, lasts }: Happening, today: number) =>
  today >= day && (lasts === 0 || today < day + lasts);

/** Days for which a true change waits: thirty where a row is deleted. */
const daysOf = ({ what }: Happening) => (what === "deleted" ? 30 : 3);

function upstreamOn(
  today: number,
  { happenings, renumbered }: { happenings: readonly Happening[]; renumbered: readonly number[] },
): SourceAirport[] {
  const shift = 1000 * renumbered.filter((day) => day <= today).length;
  return START.flatMap((airport, index) => {
    const row = { ...airport, id: String(shift + Number(airport.id)) };
    const its = happenings.find((one) => one.airport === index && isSeen(one, today));
    return its === undefined ? [row] : HAPPENINGS[its.what](row, index);
  });
}

describe("thirty days of a wiki", () => {
  it("serve no vandalism of up to three days, and every true change from its fourth day, but for rows that are deleted", () => {
    fc.assert(
      fc.property(anyLife, (wiki) => {
        const life = new UpstreamLife(START);
        const isTrue = ({ lasts }: Happening) => lasts === 0;
        const truth = { ...wiki, happenings: wiki.happenings.filter(isTrue) };
        for (let today = 0; today <= DAYS; today++) {
          life.nextDay(upstreamOn(today, wiki));
          const settled = truth.happenings.filter((one) => today >= one.day + daysOf(one));
          const expected = upstreamOn(DAYS, { renumbered: [], happenings: settled });
          expect(served(life)).toEqual(byId(expected.map(asListed)));
        }
        expect(life.held().filter(({ after }) => after !== null)).toEqual([]);
      }),
    );
  });

  it("serve an edit that nobody takes back for four days, and for three more days then", () => {
    const life = new UpstreamLife(START);
    const happening = { airport: 0, what: "renamed", day: 1, lasts: 4 } as const;
    for (let today = 0; today <= 4; today++)
      life.nextDay(upstreamOn(today, { happenings: [happening], renumbered: [] }));
    expect(life.airport(code(0))?.name).toBe("Changed0 Airport");
    life.nextDays(3, START);
    expect(life.airport(code(0))?.name).toBe("Changed0 Airport");
    life.nextDay(START);
    expect(life.airport(code(0))?.name).toBe(START[0]?.name);
  });
});

function served(life: UpstreamLife) {
  return byId(life.ledger.accepted.airports.map(asListed));
}

function byId(airports: readonly ReturnType<typeof asListed>[]) {
  return airports.toSorted((a, b) => Number(a.id) - Number(b.id));
}

/** An airport without the row number, which upstream may change. */
function asListed(airport: SourceAirport) {
  return { id: airport.id, ...recordOf(airport) };
}
