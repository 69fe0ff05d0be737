import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { readAirports } from "../../../src/sources/our-airports.ts";
import type { SourceAirport } from "../../../src/catalog/source-airport.ts";
import { anAirportRow, csvOf, streamOf } from "../../builders/source.ts";
import { airportNumber, UpstreamLife } from "../../builders/upstream-life.ts";

type Code = "iata" | "icao";

/** Sizes of the airports; the last one would get a code before the one before it. */
const TYPES = [
  "large_airport",
  "medium_airport",
  "medium_airport",
  "small_airport",
  "medium_airport",
] as const;

/** Spells a letter as the code that varies; the other code is the airport's own. */
function anAirport(code: Code, index: number, letter: string): SourceAirport {
  const own = "ABCDE"[index] ?? "";
  const iata = code === "iata" ? `X${letter}X` : `Y${own}Y`;
  const icao = code === "icao" ? `X${letter}XX` : `Y${own}YY`;
  return airportNumber(1 + index, iata, { type: TYPES[index] ?? "heliport", icao, country: "CH" });
}

/** A wiki in which each airport has a code, written as a letter: `-` is closed, `x` has no row. */
class Wiki {
  readonly life: UpstreamLife;
  readonly #code: Code;

  constructor(code: Code) {
    this.#code = code;
    this.life = new UpstreamLife(["A", "B", "C"].map((letter, at) => anAirport(code, at, letter)));
  }

  /** Reads the wiki on the next day. */
  async nextDay(letters: string, isApproved = false): Promise<void> {
    const rows = letters.split(" ").flatMap((letter, index) => {
      if (letter === "x") return [];
      const isClosed = letter === "-";
      const own = "ABCDE"[index] ?? "";
      const airport = anAirport(this.#code, index, isClosed ? own : letter);
      const row = anAirportRow({
        id: airport.id,
        type: isClosed ? "closed" : airport.type,
        name: airport.name,
        latitude_deg: String(airport.lat),
        longitude_deg: String(airport.lon),
        municipality: airport.municipality,
        iso_region: airport.region,
        iata_code: airport.iata,
        icao_code: airport.icao,
        gps_code: airport.icao,
      });
      return [row];
    });
    const known = this.life.ledger.accepted.airports;
    const file = streamOf(csvOf(rows));
    const { airports, ...others } = await readAirports(file, new Set(["CH"]), known);
    const decisions = isApproved
      ? this.life.held().map((_, at) => this.life.decision("approved", at))
      : [];
    this.life.nextDay(airports, { ...others, decisions });
  }

  /** What is served, as letters; `.` is an airport that is not. */
  served(): string {
    const { airports } = this.life.ledger.accepted;
    return TYPES.map((_, index) => {
      const airport = airports.find(({ id }) => id === String(1 + index));
      return airport?.[this.#code].charAt(1) ?? ".";
    }).join(" ");
  }

  /** Codes that several airports have. */
  shared(): string[] {
    const codes = this.life.ledger.accepted.airports.flatMap(({ iata, icao }) => [iata, icao]);
    return codes.filter((code, at) => code !== "" && codes.indexOf(code) < at);
  }
}

/** What upstream says and what is served, each from a day on. Day 0 is the first. */
type Days = Readonly<Record<number, string>>;

const CASES: [what: string, said: Days, served: Days][] = [
  ["exchanged by two", { 0: "B A C" }, { 3: "B A C . ." }],
  ["taken from one that stays", { 0: "B B C" }, {}],
  ["taken from one that closes", { 0: "B - C" }, { 3: "B . C . ." }],
  ["taken, while its owner closes later", { 0: "B B C", 5: "B - C" }, { 8: "B . C . ." }],
  ["taken, while its owner gives it up later", { 0: "B B C", 3: "B D C" }, { 6: "B D C . ." }],
  ["taken before its owner has another", { 0: "B D C" }, { 3: "B D C . ." }],
  ["taken from a row that is deleted", { 0: "B x C" }, { 30: "B . C . ." }],
  ["taken for two days", { 0: "B B C", 2: "A B C" }, {}],
  ["passed on by three", { 0: "B C D" }, { 3: "B C D . ." }],
  ["passed on to one that stays", { 0: "B C C" }, {}],
  ["passed round by three", { 0: "B C A" }, { 3: "B C A . ." }],
  ["passed round, the last two days later", { 0: "B C C", 2: "B C A" }, { 5: "B C A . ." }],
  ["passed on, the last of them closing", { 0: "B C -" }, { 3: "B C . . ." }],
  ["given to a new airport by one that closes", { 0: "A - C B" }, { 3: "A . C B ." }],
  ["given to a new airport while its owner stays", { 0: "A B C B" }, {}],
  ["new, of two new airports", { 0: "A B C E E" }, { 3: "A B C . E" }],
  ["new, of a new airport and an old one", { 0: "E B C E" }, { 3: "E B C . ." }],
  ["wanted back after its owner reopens", { 0: "B - C", 10: "B B C" }, { 3: "B . C . ." }],
];

describe.each<Code>(["iata", "icao"])("an %s code", (code) => {
  let wiki: Wiki;

  beforeEach(() => {
    wiki = new Wiki(code);
  });

  it.each(CASES)("belongs to one airport on every day when it is %s", async (_, said, served) => {
    let [letters, expected] = ["A B C", "A B C . ."];
    for (let day = 0; day < 40; day++) {
      await wiki.nextDay((letters = said[day] ?? letters));
      expected = served[day] ?? expected;
      expect([day, wiki.served()]).toEqual([day, expected]);
      expect(wiki.shared()).toEqual([]);
    }
  });

  it("belongs to one airport whatever upstream says and an operator approves", async () => {
    const anyLetter = fc.constantFrom("A", "B", "C", "D", "-", "x");
    const anyDay = fc.record({
      letters: fc.tuple(anyLetter, anyLetter, anyLetter, anyLetter, anyLetter),
      days: fc.integer({ min: 1, max: 5 }),
      isApproved: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(anyDay, { maxLength: 8 }), async (days) => {
        const random = new Wiki(code);
        for (const { letters, days: count, isApproved } of days)
          for (let day = 0; day < count; day++) {
            await random.nextDay(letters.join(" "), isApproved && day === count - 1);
            expect(random.shared()).toEqual([]);
          }
      }),
    );
  });
});

describe("an ICAO code", () => {
  it("is marked while another airport has it, and an approval does not bring it", async () => {
    const wiki = new Wiki("icao");
    await wiki.nextDay("B B C");
    expect(wiki.life.reasons()).toEqual(["YAY: changes_code"]);
    await wiki.nextDay("B B C", true);
    expect(wiki.served()).toBe("A B C . .");
    expect(wiki.life.held()).toMatchObject([{ iata: "YAY", state: "approved" }]);
    await wiki.nextDay("B D C");
    await wiki.nextDay("B D C", true);
    expect(wiki.served()).toBe("B D C . .");
    expect(wiki.life.held()).toEqual([]);
  });

  it("stays with the larger of two airports that had it already", async () => {
    const wiki = new Wiki("icao");
    const { ledger } = wiki.life;
    const airports = ledger.accepted.airports.map((airport) => ({ ...airport, icao: "XBXX" }));
    wiki.life.ledger = { ...ledger, accepted: { ...ledger.accepted, airports } };
    await wiki.nextDay("B B C");
    expect(wiki.life.ledger.accepted.airports.map(({ icao }) => icao)).toEqual(["XBXX", "", ""]);
    for (let day = 0; day < 3; day++) await wiki.nextDay("B B C");
    expect(wiki.life.ledger.accepted.airports.map(({ icao }) => icao)).toEqual([
      "XBXX",
      "",
      "XCXX",
    ]);
    expect(wiki.life.reasons()).toEqual(["YBY: changes_code"]);
  });
});
