import { describe, expect, it } from "vitest";
import {
  compareWithWitness,
  type Decision,
  parseWitness,
  WITNESS_COLUMNS,
  WITNESS_DAY,
  type WitnessRow,
} from "../build/airport-witness.ts";
import type { AirportRow } from "../build/airports.ts";

const HEADER = WITNESS_COLUMNS.join();
const ZRH = `${WITNESS_DAY},ZRH,47.46,8.55,,`;

describe("parseWitness", () => {
  const parse = (...lines: string[]) => parseWitness(lines.join("\n"), 1);

  it("reads codes of today and ended ones", () => {
    expect(parse(HEADER, ZRH, `${WITNESS_DAY},AVR,38.88,-9.03,2016-01-01,2026-04-30`)).toEqual([
      { iata: "ZRH", lat: 47.46, lon: 8.55, since: "", until: "" },
      { iata: "AVR", lat: 38.88, lon: -9.03, since: "2016-01-01", until: "2026-04-30" },
    ]);
  });

  it.each([
    ["of another day", [HEADER, ZRH, "2026-09-01,GVA,46.24,6.11,,"], "GVA is of 2026-09-01"],
    ["without a column", [HEADER.replace(",date_from", ""), ZRH], "its columns are as_of,"],
    ["without a header", [ZRH], "its columns are"],
    ["with a short row", [HEADER, `${WITNESS_DAY},ZRH,47.46`], "ZRH has 3 columns"],
    ["with a code twice", [HEADER, ZRH, ZRH], "ZRH is there twice"],
    ["with a position at 0/0", [HEADER, `${WITNESS_DAY},ZRH,0,0,,`], "ZRH is at 0, 0"],
    ["without a position", [HEADER, `${WITNESS_DAY},ZRH,,8.55,,`], "ZRH is at , 8.55"],
    ["off the globe", [HEADER, `${WITNESS_DAY},ZRH,91,8.55,,`], "ZRH is at 91, 8.55"],
    ["with what is no code", [HEADER, `${WITNESS_DAY},zrh,47.46,8.55,,`], '"zrh" is no IATA code'],
    ["that is cut off", [HEADER], "it has 0 codes"],
  ])("refuses a file %s by name", (_, lines, problem) => {
    expect(() => parse(...lines)).toThrow(`airport-witness.csv.gz: ${problem}`);
  });
});

describe("compareWithWitness", () => {
  const airport = (changes: Partial<AirportRow> = {}) =>
    ({ iata: "ZRH", lat: 47.46, lon: 8.55, scheduledService: "yes", ...changes }) as AirportRow;
  const row = (changes: Partial<WitnessRow> = {}): WitnessRow => ({
    iata: "ZRH",
    lat: 47.46,
    lon: 8.55,
    since: "",
    until: "",
    ...changes,
  });
  const compare = (
    witness: WitnessRow[],
    airports = [airport()],
    decisions: Decision[] = [],
    others: string[] = [],
  ) => compareWithWitness(witness, airports, { decisions, others: new Set(others) });
  const decided = (iata: string, difference: string): Decision[] => [
    { iata, difference, source: "a witness", reason: "a test" },
  ];
  const NEW = row({ iata: "NEW", since: "2026-01-01" });
  const FAR = { lat: 20.81 };
  const unused = airport({ scheduledService: "no" });

  it.each<[string, WitnessRow[], AirportRow[], string[]]>([
    ["what agrees", [row()], [airport()], []],
    ["a rough position", [row({ lat: 47.5 })], [airport()], []],
    ["an airport that moved", [row(FAR)], [airport()], ["ZRH is 2963 km away at 20.81, 8.55"]],
    ["the rough position of an unused one", [row(FAR)], [unused], []],
    ["a code given away", [row({ ...FAR, since: "2026-05-01" })], [unused], ["since 2026-05-01"]],
    ["a code that ended", [row({ until: "2026-04-30" })], [unused], ["ZRH has no code any more"]],
    [
      "a code that ended here and began there",
      [row({ until: "2026-04-30" }), row(FAR)],
      [airport()],
      ["2026-04-30"],
    ],
    ["a used airport without a code", [], [airport()], ["ZRH has no code any more"]],
    ["an unused airport without a code", [], [unused], []],
    ["a new code", [row(), NEW], [airport()], ["NEW is a code at 47.46, 8.55 since 2026-01-01"]],
    ["an old code that is not ours", [row(), row({ iata: "OLD" })], [airport()], []],
  ])("compares %s", (_, witness, airports, problems) => {
    expect(compare(witness, airports)).toEqual(
      problems.map((problem) => expect.stringContaining(problem) as unknown),
    );
  });

  it("leaves a difference that a row decides, and a code that another table explains", () => {
    expect(compare([row(), NEW], [airport()], decided("NEW", "new"))).toEqual([]);
    expect(compare([row(), NEW], [airport()], [], ["NEW"])).toEqual([]);
    expect(compare([row(FAR)], [airport()], decided("ZRH", "elsewhere"))).toEqual([]);
  });

  it("stops a decision without a difference, of another kind, or without a source", () => {
    expect(compare([row()], [airport()], decided("ZRH", "elsewhere"))).toEqual([
      "witness.csv: ZRH elsewhere: there is no such difference",
    ]);
    expect(compare([row(FAR)], [airport()], decided("ZRH", "gone"))).toHaveLength(2);
    const unsourced = [{ iata: "ZRH", difference: "gone", source: "", reason: "a test" }];
    expect(() => compare([row()], [airport()], unsourced)).toThrow("ZRH has no source");
  });
});
