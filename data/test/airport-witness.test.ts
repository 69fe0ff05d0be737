import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  checkedDecisions,
  compareWithWitness,
  type Decision,
  parseWitness,
  WITNESS_COLUMNS,
  WITNESS_DAY,
  type WitnessRow,
} from "../build/airport-witness.ts";
import type { AirportRow } from "../build/airports.ts";
import { witnessText } from "../build/make-witness.ts";

const HEADER = WITNESS_COLUMNS.join();
const ZRH = `${WITNESS_DAY},ZRH,47.46,8.55,,`;

describe("parseWitness", () => {
  it("reads codes of today and ended ones", () => {
    const ended = `${WITNESS_DAY},AVR,38.88,-9.03,2016-01-01,2026-04-30`;
    expect(parseWitness([HEADER, ZRH, ended].join("\n"), { codes: 1, ended: 1 })).toEqual([
      { iata: "ZRH", lat: 47.46, lon: 8.55, since: "", until: "" },
      { iata: "AVR", lat: 38.88, lon: -9.03, since: "2016-01-01", until: "2026-04-30" },
    ]);
  });
});

describe("the build with a damaged witness", () => {
  /** A copy of what the build reads, whose witness may be damaged. */
  const root = mkdtempSync(`${tmpdir()}/witness-`);
  afterAll(() => rmSync(root, { recursive: true }));
  const inRepository = (path: string) => new URL(`../../${path}`, import.meta.url).pathname;
  const inCopy = (path: string) => `${root}/${path}`;
  const file = inCopy("data/airport-witness.csv.gz");
  const intact = gunzipSync(readFileSync(inRepository("data/airport-witness.csv.gz"))).toString();

  beforeAll(() => {
    const [modules, scratch] = ["data/build/node_modules", "data/snapshot.refused"].map(
      inRepository,
    );
    cpSync(inRepository("data"), inCopy("data"), {
      recursive: true,
      filter: (path) => path !== modules && path !== scratch,
    });
    for (const path of ["src", "node_modules", "package.json", "data/build/node_modules"])
      symlinkSync(inRepository(path), inCopy(path));
  });

  const build = () => {
    const run = spawnSync(process.execPath, [inCopy("data/build/build.ts")], { encoding: "utf8" });
    return { status: run.status, problem: run.stderr.trim() };
  };
  /** The names, bytes and times of the snapshot's files: what is written anew has a new time. */
  const snapshot = () =>
    readdirSync(inCopy("data/snapshot"), { recursive: true, encoding: "utf8" }).map((name) => {
      const { size, mtimeMs } = statSync(inCopy(`data/snapshot/${name}`));
      return [name, size, mtimeMs];
    });
  /** Replaces Zurich's row, or columns of it. */
  const zurich = (change: (row: string) => string) => (text: string) =>
    text.replace(/^.*,ZRH,.*$/mu, change);
  const column = (index: number, value: string) =>
    zurich((row) => row.split(",").with(index, value).join());

  it.each<[string, (text: string) => string | Buffer, RegExp]>([
    [
      "of another day",
      column(0, "2026-09-01"),
      /row \d+ \(ZRH\): as_of is "2026-09-01", expected 2026-08-21/u,
    ],
    [
      "without a column",
      (text) => text.replace(",date_from", ""),
      /its columns are as_of,iata_code,latitude,longitude,date_until, expected as_of/u,
    ],
    [
      "without a header",
      (text) => text.slice(text.indexOf("\n") + 1),
      /its columns are 2026-08-21,AAA/u,
    ],
    [
      "with a short row",
      zurich(() => `${WITNESS_DAY},ZRH,47.46`),
      /row \d+ \(ZRH\): it has 3 columns, expected 6/u,
    ],
    [
      "with a code twice",
      zurich((row) => `${row}\n${row}`),
      /row \d+ \(ZRH\): iata_code is that of row \d+ too/u,
    ],
    ["with what is no code", column(1, "Zrh"), /row \d+ \(Zrh\): iata_code is "Zrh"/u],
    [
      "with a position at 0/0",
      zurich(() => `${WITNESS_DAY},ZRH,0,0,,`),
      /row \d+ \(ZRH\): latitude and longitude are 0/u,
    ],
    ["without a latitude", column(2, ""), /row \d+ \(ZRH\): latitude is "", expected degrees/u],
    ["off the globe", column(2, "91"), /row \d+ \(ZRH\): latitude is "91", expected degrees/u],
    ["with a longitude in words", column(3, "8°33'"), /row \d+ \(ZRH\): longitude is "8°33'"/u],
    [
      "with a day that is none",
      column(4, "2026-02-30"),
      /row \d+ \(ZRH\): date_from is "2026-02-30"/u,
    ],
    ["with a month for a day", column(5, "2026-02"), /row \d+ \(ZRH\): date_until is "2026-02"/u],
    ["with a day to come", column(5, "2026-08-22"), /row \d+ \(ZRH\): date_until is "2026-08-22"/u],
    [
      "with an end before its beginning",
      zurich(() => `${WITNESS_DAY},ZRH,47.46,8.55,2026-05-01,2026-04-30`),
      /row \d+ \(ZRH\): date_until is "2026-04-30", before date_from/u,
    ],
    ["with a quote too many", column(1, '"ZRH'), /Quote Not Closed/u],
    [
      "of a part of its codes",
      (text) => text.split("\n").slice(0, 9000).join("\n"),
      /it has \d+ codes, expected 9400 or more/u,
    ],
    [
      "without a code that ended",
      (text) => text.replace(/^.*,AVR,.*,2026-04-30\n/mu, ""),
      /it has 6 codes that ended, expected 7 or more/u,
    ],
    ["that is cut off", (text) => gzipSync(text).subarray(0, 40_000), /unexpected end of file/u],
  ])("stops by name at a file %s and leaves the snapshot as it was", (_, damage, problem) => {
    const damaged = damage(intact);
    writeFileSync(file, typeof damaged === "string" ? gzipSync(damaged) : damaged);
    const before = snapshot();
    const run = build();
    expect(run.problem).toMatch(problem);
    expect(run.problem).toMatch(/^airport-witness\.csv\.gz: /u);
    expect(run.status).toBe(1);
    expect(snapshot()).toEqual(before);
    expect(existsSync(inCopy("data/snapshot.refused"))).toBe(false);
  });
});

describe("witnessText", () => {
  const PLACES = "pk^iata_code^latitude^longitude^city_code^date_from";
  const ENDED = "iata_code^latitude^longitude^date_from^date_until^fcode";
  const places = [
    PLACES,
    "ZRH-A-6299669^ZRH^47.4581^8.5481^ZRH^",
    "NEW-A-1^NEW^1.5^2^NEW^2026-08-20",
  ];
  const ended = [ENDED, "AVR^38.8833^-9.03^2016-01-01^2026-04-30^AIRP"];
  const make = (best: string[], no: string[]) => witnessText(best.join("\n"), no.join("\n"));

  it("writes the codes of today and ended ones", () => {
    expect(make(places, ended).split("\n")).toEqual([
      HEADER,
      `${WITNESS_DAY},AVR,38.88,-9.03,2016-01-01,2026-04-30`,
      `${WITNESS_DAY},NEW,1.5,2,2026-08-20,`,
      ZRH,
      "",
    ]);
  });

  it.each([
    [
      "without a column",
      [PLACES.replace("latitude", "lat"), ...places.slice(1)],
      ended,
      "optd_por_best_known_so_far.csv has no column latitude",
    ],
    [
      "of ended codes without a column",
      places,
      [ENDED.replace("fcode", "code")],
      "optd_por_no_longer_valid.csv has no column fcode",
    ],
    ["of an earlier day", places.slice(0, 2), ended, 'the newest date_from is "", but WITNESS_DAY'],
    [
      "of a later day",
      [...places, "FUT-A-1^FUT^1^2^FUT^2026-09-01"],
      ended,
      'the newest date_from is "2026-09-01"',
    ],
  ])("refuses a file %s by name", (_, best, no, problem) => {
    expect(() => make(best, no)).toThrow(problem);
  });

  it("leaves a missing position empty, which no build accepts", () => {
    const text = make([...places, "BAD-A-1^BAD^^2^BAD^"], ended);
    expect(() => parseWitness(text, { codes: 1, ended: 1 })).toThrow('(BAD): latitude is ""');
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
  const decided = (iata: string, difference: string, about: string): Decision[] => [
    { iata, difference, about, source: "a witness", again: "2027-08-01", reason: "a test" },
  ];
  const NEW = row({ iata: "NEW", since: "2026-01-01" });
  const FAR = { lat: 20.81 };
  const unused = airport({ scheduledService: "no" });

  it.each<[string, WitnessRow[], AirportRow[], string[]]>([
    ["what agrees", [row()], [airport()], []],
    ["a rough position", [row({ lat: 47.5 })], [airport()], []],
    [
      "an airport that moved",
      [row(FAR)],
      [airport()],
      ["ZRH elsewhere: 2963 km away at 20.81 8.55"],
    ],
    ["the rough position of an unused one", [row(FAR)], [unused], []],
    ["a code given away", [row({ ...FAR, since: "2026-05-01" })], [unused], ["since 2026-05-01"]],
    ["a code that ended", [row({ until: "2026-04-30" })], [unused], ["ZRH gone: ended 2026-04-30"]],
    [
      "a code that ended here and began there",
      [row({ until: "2026-04-30" }), row(FAR)],
      [airport()],
      ["2026-04-30"],
    ],
    ["a used airport without a code", [], [airport()], ["ZRH gone: no such code"]],
    ["an unused airport without a code", [], [unused], []],
    ["a new code", [row(), NEW], [airport()], ["NEW new: at 47.46 8.55 since 2026-01-01"]],
    ["an old code that is not ours", [row(), row({ iata: "OLD" })], [airport()], []],
  ])("compares %s", (_, witness, airports, problems) => {
    expect(compare(witness, airports)).toEqual(
      problems.map((problem) => expect.stringContaining(problem) as unknown),
    );
  });

  const NEW_IS = "at 47.46 8.55 since 2026-01-01";
  const FAR_IS = "2963 km away at 20.81 8.55";

  it("leaves a difference that a row decides, and a code that another table explains", () => {
    expect(compare([row(), NEW], [airport()], decided("NEW", "new", NEW_IS))).toEqual([]);
    expect(compare([row(), NEW], [airport()], [], ["NEW"])).toEqual([]);
    expect(compare([row(FAR)], [airport()], decided("ZRH", "elsewhere", FAR_IS))).toEqual([]);
  });

  it.each([
    ["another place", [row({ lat: 30 })], [airport()], decided("ZRH", "elsewhere", FAR_IS)],
    ["another place here", [row(FAR)], [airport({ lat: 0 })], decided("ZRH", "elsewhere", FAR_IS)],
    [
      "another day",
      [row(), { ...NEW, since: "2026-05-01" }],
      [airport()],
      decided("NEW", "new", NEW_IS),
    ],
    ["an end", [row({ until: "2026-08-01" })], [airport()], decided("ZRH", "gone", "no such code")],
    ["another kind", [row(FAR)], [airport()], decided("ZRH", "gone", FAR_IS)],
  ])(
    "asks again after %s, and names the decision that is without a difference",
    (_, witness, airports, decisions) => {
      const [asked, unused, ...more] = compare(witness, airports, decisions);
      expect(asked).toContain("say by one in curated/witness.csv why not");
      expect(unused).toContain("there is no such difference");
      expect(more).toEqual([]);
    },
  );
});

describe("checkedDecisions", () => {
  const decision: Decision = {
    iata: "NEW",
    difference: "new",
    about: "at 47.46 8.55 since 2026-01-01",
    source: "a witness",
    again: "2027-08-01",
    reason: "a test",
  };
  const { again: _, ...undated } = decision;

  it("accepts a decision with its source, and with a day to look again if the code is new", () => {
    const elsewhere = { ...decision, difference: "elsewhere", again: "" };
    expect(checkedDecisions([decision, elsewhere])).toHaveLength(2);
  });

  it.each<[string, Decision[], string]>([
    ["without a source", [{ ...decision, source: "" }], "it has no source"],
    ["without a day to look again", [{ ...decision, again: "" }], "it needs a day in again"],
    ["without a column", [undated as Decision], "it has no column again"],
    ["that is there twice", [decision, decision], "is there twice"],
  ])("refuses one %s by name", (_, decisions, problem) => {
    expect(() => checkedDecisions(decisions)).toThrow(/^witness\.csv: NEW new: /u);
    expect(() => checkedDecisions(decisions)).toThrow(problem);
  });
});
