import { describe, expect, it } from "vitest";
import {
  aFieldRow,
  differences,
  EditedWorld,
  HONEST,
  LINES,
  type Said,
} from "../../builders/edited-world.ts";
import type { Row } from "../../builders/source.ts";

type Edit = (said: Said) => Said;

/** Edits the rows of some airports. */
const edit =
  (codes: string | readonly string[], changes: Row): Edit =>
  ({ airports, regions }) => ({
    airports: airports.map((row) =>
      [codes].flat().includes(row["iata_code"] ?? "") ? { ...row, ...changes } : row,
    ),
    regions,
  });
const remove =
  (...codes: readonly string[]): Edit =>
  ({ airports, regions }) => ({
    airports: airports.filter((row) => !codes.includes(row["iata_code"] ?? "")),
    regions,
  });
const add =
  (changes: Row): Edit =>
  ({ airports, regions }) => ({
    airports: [...airports, aFieldRow({ id: "5000", iata_code: "XNW", ...changes })],
    regions,
  });
const name = (code: string, written: string): Edit => edit(code, { name: written });
const nameRegion =
  (code: string, written: string): Edit =>
  ({ airports, regions }) => ({
    airports,
    regions: regions.map((row) => (row["code"] === code ? { code, name: written } : row)),
  });
const both =
  (...edits: readonly Edit[]): Edit =>
  (said) =>
    edits.reduce((all, one) => one(all), said);

/**
 * The fate of an edit that nobody fixes:
 *
 * - `day 4`: it is served from the fourth day on.
 * - `day 31`: it is served from the 31st day on.
 * - `operator`: it waits for an operator.
 * - `taken`: it waits for another airport to give up its code.
 * - `refused`: the row is a reject, and the last good record stays.
 * - `no effect`: it changes nothing that is served, and does not wait.
 */
type Fate = "day 4" | "day 31" | "operator" | "taken" | "refused" | "no effect";

/** By whom and what; the edit; its fate; what is served then. */
const CASES: readonly [string, Edit, Fate, ...string[]][] = [
  ["vandal: an obscene word in a name", name("ZRH", "Zürich Shithole Airport"), "operator"],
  ["vandal: one in a municipality", edit("XFD", { municipality: "Shitty Uster" }), "operator"],
  [
    "vandal: a joke",
    name("ZRH", "Paris Hilton Airport"),
    "day 4",
    "ZRH name: Paris Hilton Airport",
  ],
  ["vandal: a joke about a small airport", name("XFD", "Ghost"), "day 4", "XFD name: Ghost"],
  ["vandal: markup", name("ZRH", "<b>Zürich</b><script>alert(1)</script>"), "refused"],
  ["vandal: capitals", name("ZRH", "ZÜRICH AIRPORT"), "no effect"],
  [
    "vandal: an invented IATA code",
    edit("ZRH", { iata_code: "SEX" }),
    "day 4",
    "- ZRH",
    "+ SEX Zürich Airport",
  ],
  ["vandal: another airport's ICAO code", edit("ZRH", { icao_code: "LSGG" }), "taken"],
  ["vandal: no IATA code", edit("ZRH", { iata_code: "" }), "day 4", "- ZRH"],
  ["vandal: another airport's IATA code", edit("ZRH", { iata_code: "GVA" }), "refused"],
  ["vandal: a second row with the code", add({ iata_code: "ZRH", name: "Ghost" }), "refused"],
  ["vandal: a position in Africa", edit("ZRH", place(10, 10)), "day 4", "ZRH position: 10 10"],
  ["vandal: another country", edit("XFD", { iso_country: "IT" }), "day 4", "XFD country: IT"],
  [
    "vandal: another subdivision",
    edit("ZRH", { iso_region: "CH-GE" }),
    "day 4",
    "ZRH regions: Europe, Geneva",
  ],
  [
    "vandal: an invented subdivision",
    both(edit("XFD", { iso_region: "CH-ZZ" }), ({ airports, regions }) => ({
      airports,
      regions: [...regions, { code: "CH-ZZ", name: "Ghost Canton" }],
    })),
    "day 4",
    "XFD regions: Europe, Ghost Canton",
  ],
  [
    "vandal: another municipality",
    edit("XFD", { municipality: "Nowhere" }),
    "day 4",
    "XFD city: Nowhere",
  ],
  ["vandal: a closing", edit("ZRH", { type: "closed" }), "day 4", "- ZRH"],
  ["vandal: a deleted airport", remove("ZRH"), "day 31", "- ZRH"],
  [
    "vandal: a list without service",
    edit(LINES, { scheduled_service: "no" }),
    "day 31",
    ...LINES.map((code) => `${code} service: no`),
  ],
  [
    "vandal: one airport without service",
    edit("ZRH", { scheduled_service: "no" }),
    "day 4",
    "ZRH service: no",
  ],
  [
    "vandal: a field that is said to be a hub",
    edit("XFD", { type: "large_airport", scheduled_service: "yes", name: "Ghost Hub" }),
    "day 4",
    "XFD name: Ghost Hub",
    "XFD service: yes",
  ],
  ["vandal: an invented airport", add({ name: "Ghost Field" }), "day 4", "+ XNW Ghost Field"],
  [
    "vandal: another name of a subdivision",
    nameRegion("CH-VS", "Ghost"),
    "day 4",
    "SIR regions: Europe, Ghost",
  ],
  ["vandal: one that the snapshot knows", nameRegion("CH-ZH", "Ghost"), "no effect"],
  [
    "vandal: a second name of a subdivision",
    ({ airports, regions }) => ({
      airports,
      regions: [...regions, { code: "CH-VS", name: "Aaa" }],
    }),
    "day 4",
    "SIR regions: Aaa, Europe",
  ],
  ["careless: a subdivision deleted", (said) => ({ ...said, regions: [] }), "no effect"],
  [
    "careless: latitude and longitude swapped",
    edit("ZRH", place(8.548056, 47.458057)),
    "day 4",
    "ZRH position: 8.5481 47.4581",
  ],
  ["careless: a code in small letters", edit("ZRH", { iata_code: "zrh" }), "no effect"],
  ["careless: a note in the name", name("ZRH", "Zürich Airport (closed)"), "no effect"],
  [
    "careless: an airport that is being built",
    add({ name: "Uri (Under Construction)" }),
    "no effect",
  ],
  ["careless: another row number", edit("ZRH", { id: "7000" }), "no effect"],
  [
    "careless: two airports with each other's codes",
    both(
      edit("LIN", { iata_code: "" }),
      edit("ZRH", { iata_code: "LIN" }),
      edit("", { iata_code: "ZRH" }),
    ),
    "day 4",
    "LIN name: Zürich Airport",
    "LIN icao: LSZH",
    "LIN position: 47.4581 8.5481",
    "LIN city: Zürich",
    "LIN country: CH",
    "LIN regions: Europe, Zurich",
    "ZRH name: Linate Airport",
    "ZRH icao: LIML",
    "ZRH position: 45.4451 9.2767",
    "ZRH city: Milan",
    "ZRH country: IT",
    "ZRH regions: Europe, Lombardy",
  ],
  [
    "honest: a new airport",
    add({ name: "Glarus Airport", municipality: "Glarus" }),
    "day 4",
    "+ XNW Glarus Airport",
  ],
];

function place(lat: number, lon: number): Row {
  return { latitude_deg: String(lat), longitude_deg: String(lon) };
}

/** Lets upstream say something on each of some days, and finds what is served otherwise then. */
async function live(world: EditedWorld, days: readonly Said[]): Promise<string[][]> {
  const before = await world.nextDay(HONEST);
  const served: string[][] = [];
  for (const said of days) served.push(differences(before, await world.nextDay(said)));
  return served;
}

const NOTHING: string[] = [];
const times = <T>(count: number, value: T): T[] => Array<T>(count).fill(value);

describe("an edit that nobody fixes", () => {
  it.each(CASES)(
    "reaches nobody on its first three days: %s",
    async (_, apply, fate, ...served) => {
      const world = new EditedWorld();
      const until = fate === "day 31" ? 31 : 4;
      const days = await live(world, times(until, apply(HONEST)));
      const last = fate === "day 4" || fate === "day 31" ? served : NOTHING;
      expect(days).toEqual([...times(until - 1, NOTHING), last]);
      expect(world.rejects.length).toBeGreaterThanOrEqual(fate === "refused" ? 1 : 0);
      const waiting = world.held.map(({ state, rules }) => `${state}: ${rules[0]}`);
      const marked = fate === "operator" ? ["waiting: obscene"] : [];
      expect(waiting).toEqual(fate === "taken" ? ["waiting: changes_code"] : marked);
    },
  );
});

describe("an edit that somebody fixes on the second day", () => {
  it.each(CASES)(
    "reaches nobody, and starts to wait again when it comes back: %s",
    async (_, apply) => {
      const [edited, world] = [apply(HONEST), new EditedWorld()];
      const days = await live(world, [edited, HONEST, edited, edited, edited, HONEST]);
      expect(days).toEqual(times(6, NOTHING));
      expect(world.held).toEqual([]);
    },
  );
});

describe("a new row that takes an airport's code", () => {
  const ghost = (said: Said) => {
    const row = said.airports.find((each) => each["iata_code"] === "ZRH");
    return add({ ...row, id: "9000", name: "Ghost Airport" })(said);
  };
  const hijacked = ghost(HONEST).airports.map((row) =>
    row["iata_code"] === "ZRH" && row["id"] !== "9000" ? { ...row, iata_code: "" } : row,
  );

  it("counts as a reject from the day on which the former row is fixed, and reaches nobody", async () => {
    const world = new EditedWorld();
    const fixed = ghost(HONEST);
    const days = await live(world, [{ ...HONEST, airports: hijacked }, ...times(9, fixed)]);
    expect(days).toEqual(times(10, NOTHING));
    expect(world.rejects).toContain("duplicate_iata");
    expect(world.held).toEqual([]);
  });
});

describe("a position that is moved by less than 2 km", () => {
  it("does not change the city until it has waited", async () => {
    const world = new EditedWorld();
    // 4.2 km from Zürich, which is the nearest city of up to 5 km.
    const near = add({ ...place(47.4045, 8.55), name: "Ghost", municipality: "" })(HONEST);
    const further = add({ ...place(47.4175, 8.55), name: "Ghost", municipality: "" })(HONEST);
    const far = add({ ...place(47.4275, 8.55), name: "Ghost", municipality: "" })(HONEST);
    const cityOn = async (said: Said) => (await world.nextDay(said)).get("XNW");
    for (let day = 1; day <= 3; day++) expect(await cityOn(near)).toBeUndefined();
    expect(await cityOn(near)).toMatchObject({ city: "Zürich" });
    expect(await cityOn(further)).toMatchObject({ city: "Zürich", position: "47.4175 8.55" });
    for (let day = 1; day <= 3; day++) expect(await cityOn(far)).toMatchObject({ city: "Zürich" });
    expect(await cityOn(far)).toMatchObject({ city: "Ghost" });
  });
});
