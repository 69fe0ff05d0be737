import { AIRPORT_COLUMNS } from "../../../data/build/airport-columns.ts";
import { roundDegrees } from "../../../src/catalog/positions.ts";
import { describe, expect, it } from "vitest";
import type { AirportsRead } from "../../../src/catalog/source-airport.ts";
import { readAirports } from "../../../src/sources/our-airports.ts";
import {
  anAirportRow,
  aSourceAirport,
  csvOf,
  OLD_COLUMNS,
  type Row,
  streamOf,
} from "../../builders/source.ts";

const COUNTRIES = new Set(["CH", "NA"]);

const readText = (text: string) => readAirports(streamOf(text), COUNTRIES);
const read = (...rows: Row[]): Promise<AirportsRead> => readText(csvOf(rows));

describe("readAirports", () => {
  it("reads the live layout of 19 columns", async () => {
    expect(AIRPORT_COLUMNS).toHaveLength(19);
    expect(await read(anAirportRow())).toEqual({
      airports: [aSourceAirport()],
      seen: 1,
      filtered: 0,
      coded: 1,
      delistedRows: new Map(),
      unopened: new Set(),
      rejects: [],
    });
  });

  it("reads the older layout of 18 columns, with ICAO codes from gps_code", async () => {
    expect(OLD_COLUMNS).toHaveLength(18);
    const { airports } = await readText(csvOf([anAirportRow()], OLD_COLUMNS));
    expect(airports).toEqual([aSourceAirport()]);
  });

  it("reads columns in any order, and does not need those that it does not use", async () => {
    const unused = ["ident", "elevation_ft", "continent", "icao_code", "home_link", "keywords"];
    const columns = AIRPORT_COLUMNS.filter((column) => !unused.includes(column)).toReversed();
    const { airports } = await readText(csvOf([anAirportRow()], [...columns, "something_new"]));
    expect(airports).toEqual([aSourceAirport()]);
  });

  it.each(
    "id type name latitude_deg iso_country iso_region municipality scheduled_service iata_code gps_code".split(
      " ",
    ),
  )("refuses a file without the column %s", async (missing) => {
    const columns = AIRPORT_COLUMNS.filter((column) => column !== missing);
    await expect(readText(csvOf([anAirportRow()], columns))).rejects.toMatchObject({
      fault: "missing_columns",
      message: expect.stringContaining(`airports.csv lacks the columns ${missing}: it begins with`),
    });
  });

  it.each([
    ["404: Not Found", "404: Not Found", "check that it is the right file"],
    ["id;ident;type;name", "id;ident;type;name", "separated by “;”: separate them by commas"],
    ["id\tident\ttype", "id\tident\ttype", "separated by “tab”"],
    [
      `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 12\n`,
      "version https://git-lfs.github.com/spec/v1",
      "only points to the file in Git LFS",
    ],
    ["x".repeat(1000), `${"x".repeat(50)}…`, "check that it is the right file"],
  ])(
    "shows how a file starts that is another one, and says what to do: %s",
    async (text, start, advice) => {
      await expect(readText(text)).rejects.toMatchObject({ fault: "missing_columns" });
      await expect(readText(text)).rejects.toThrow(`it begins with “${start}”`);
      await expect(readText(text)).rejects.toThrow(advice);
    },
  );

  it.each(["1", "0", "YES", "true"])("rejects a row that says “%s” of its service", async (odd) => {
    expect((await read(anAirportRow({ scheduled_service: odd }))).rejects).toMatchObject([
      { reason: "bad_scheduled_service", iata: "ZRH" },
    ]);
  });

  const MARKS = [
    "\\N",
    "NULL",
    "null",
    "NaN",
    "nan",
    "-",
    " - ",
    "--",
    "–",
    "—",
    "n/a",
    "N/A",
    "#N/A",
    "<NA>",
  ];

  it.each(MARKS)("takes the null mark “%s” for an empty value in each column", async (mark) => {
    const columns = AIRPORT_COLUMNS.filter((column) => column !== "type");
    for (const column of columns)
      expect(await read(anAirportRow({ [column]: mark }))).toEqual(
        await read(anAirportRow({ [column]: "" })),
      );
  });

  it.each([
    ["iata_code", "NAN"],
    ["iso_country", "NA"],
    ["municipality", "Nan"],
    ["municipality", "Null"],
  ])("keeps what only looks like a null mark: %s %s", async (column, value) => {
    const { airports } = await read(anAirportRow({ [column]: value }));
    expect(Object.values(airports[0] ?? {})).toContain(value);
  });

  it("takes closed rows for no rejects, and says which of the known ones they are", async () => {
    const rows = [
      anAirportRow({ type: "closed" }),
      anAirportRow({ id: "7", iata_code: "" }),
      anAirportRow({ id: "8", type: "closed", iata_code: "XXC" }),
    ];
    const known = ["4439", "7"].map((row) => ({ row, iata: "ZRH", lat: 47, lon: 8 }));
    const found = await readAirports(streamOf(csvOf(rows)), COUNTRIES, known);
    expect(found).toMatchObject({ airports: [], seen: 3, filtered: 3, rejects: [] });
    expect([...found.delistedRows]).toEqual([
      ["4439", "closed"],
      ["7", "without_code"],
    ]);
  });

  it("says which of the rejected rows are those of known airports", async () => {
    const rows = [
      anAirportRow({ latitude_deg: "?" }),
      anAirportRow({ id: "7", iata_code: "AAA" }),
      anAirportRow({ id: "8", iata_code: "AAA" }),
      anAirportRow({ id: "9", iata_code: "ZRHX" }),
    ];
    const known = ["4439", "8"].map((row) => ({ row, iata: "ZRH", lat: 47, lon: 8 }));
    const found = await readAirports(streamOf(csvOf(rows)), COUNTRIES, known);
    expect(found.rejects).toHaveLength(3);
    expect([...found.delistedRows]).toEqual([
      ["4439", "unusable"],
      ["8", "unusable"],
    ]);
  });

  it.each([
    ["its own row", { row: "9", iata: "ZRH", lat: 0, lon: 0 }],
    ["the row next to it", { row: "1", iata: "ZRH", lat: 46.99, lon: 7.01 }],
  ])("leaves a known airport its code, by %s, though a larger one claims it", async (_, known) => {
    const large = anAirportRow();
    const small = { type: "small_airport", latitude_deg: "47", longitude_deg: "7" };
    const own = anAirportRow({ id: "9", ...small });
    for (const rows of [
      [large, own],
      [own, large],
    ]) {
      const found = await readAirports(streamOf(csvOf(rows)), COUNTRIES, [known]);
      expect(found.airports.map(({ id }) => id)).toEqual(["9"]);
      expect(found.rejects).toMatchObject([{ reason: "duplicate_iata", id: "4439" }]);
    }
  });

  it.each(["(Under Construction)", "(Duplicate)", "(closed)", "XXX"])(
    "names the airports whose name says %s",
    async (note) => {
      const { airports, unopened } = await read(anAirportRow({ name: `Zürich Airport ${note}` }));
      expect(airports).toEqual([aSourceAirport()]);
      expect([...unopened]).toEqual(["4439"]);
    },
  );

  it("refuses a file of which many names were decoded wrongly, and lets a wiki have some", async () => {
    const letters = "A B C D E F G H I J K L M N O P Q R S T U".split(" ");
    const rows = letters.map((letter, index) =>
      anAirportRow({ id: String(1 + index), iata_code: `XX${letter}`, name: "ZÃ¼rich Airport" }),
    );
    expect((await read(...rows.slice(1))).airports).toHaveLength(20);
    await expect(read(...rows)).rejects.toMatchObject({
      fault: "not_utf8",
      message: expect.stringContaining("such as “ZÃ¼rich Airport” in line 22"),
    });
  });

  it("refuses a file of which too many rows cannot be used to be kept in memory", async () => {
    const row = csvOf([anAirportRow({ id: "x" })]).split("\n")[1];
    const rejected = readText(csvOf([]) + `${row}\n`.repeat(50_001));
    await expect(rejected).rejects.toMatchObject({
      fault: "malformed_csv",
      message: expect.stringMatching(
        /over 50000 unusable rows .*, most often missing_required 50001;/,
      ),
    });
  });

  it("keeps no text for null: NA is Namibia", async () => {
    const row = anAirportRow({ iso_country: "NA", continent: "NA", iso_region: "NA-KH" });
    const { airports } = await read(row);
    expect(airports).toEqual([aSourceAirport({ country: "NA", region: "NA-KH" })]);
  });

  it("filters rows without an IATA code, and does not look at the rest of them", async () => {
    const none = anAirportRow({ iata_code: "", type: "closed", latitude_deg: "?" });
    const { seen, filtered, rejects } = await read(none, { ...none, iata_code: "  " });
    expect({ seen, filtered, rejects }).toEqual({ seen: 2, filtered: 2, rejects: [] });
  });

  it("gives airports in order of their IATA codes", async () => {
    const rows = ["ZRH", "AAA", "MXP"].map((iata_code, index) =>
      anAirportRow({ iata_code, id: String(index + 1) }),
    );
    const { airports } = await read(...rows);
    expect(airports.map(({ iata }) => iata)).toEqual(["AAA", "MXP", "ZRH"]);
  });

  it("finds nothing in a file of no rows", async () => {
    expect(await read()).toMatchObject({ airports: [], seen: 0, rejects: [] });
  });
});

describe("a row that readAirports rejects", () => {
  it.each<[string, Row]>([
    ["missing_required", { id: "" }],
    ["missing_required", { id: "9".repeat(16) }],
    ["missing_required", { id: "44\u000039" }],
    ["missing_required", { id: "1e9" }],
    ["missing_required", { name: " \u00a0 " }],
    ["bad_iata", { iata_code: "ZRHX" }],
    ["bad_iata", { iata_code: "Z1H" }],
    ["bad_iata", { iata_code: "ZÜR" }],
    ["bad_iata", { iata_code: "XXX" }],
    ["bad_text", { name: "Kloten\u0000Field" }],
    ["bad_text", { name: "<b>Zürich</b>" }],
    ["bad_text", { iso_region: `CH-${"X".repeat(118)}` }],
    ["bad_text", { municipality: "taxi-zurich.example" }],
    ["type_excluded", { type: "balloonport" }],
    ["type_excluded", { type: "toString" }],
    ["unknown_country", { iso_country: "XX" }],
    ["unknown_country", { iso_country: "ch" }],
    ["bad_coordinates", { latitude_deg: "" }],
    ["bad_coordinates", { latitude_deg: "Infinity" }],
    ["bad_coordinates", { latitude_deg: "4.7e1" }],
    ["bad_coordinates", { latitude_deg: "47,458" }],
    ["bad_coordinates", { latitude_deg: "90.0001" }],
    ["bad_coordinates", { longitude_deg: "-180.5" }],
    ["bad_coordinates", { latitude_deg: "0", longitude_deg: "-0.0" }],
  ])("counts as %s for %j, and the report says which row it was", async (reason, changes) => {
    const row = anAirportRow(changes);
    const kept = anAirportRow({ id: "1", iata_code: "AAA" });
    const { airports, rejects, seen } = await read(row, kept);
    expect(rejects).toEqual([{ reason, line: 2, iata: row["iata_code"], id: row["id"] }]);
    expect(airports.map(({ iata }) => iata)).toEqual(["AAA"]);
    expect(seen).toBe(2);
  });

  it("counts as column_count with too many or too few values", async () => {
    const [header, row] = csvOf([anAirportRow()]).split("\n");
    const text = `${header}\n${row},\n${row?.slice(0, -1)}\n\n${row}\n`;
    const { airports, rejects } = await readText(text);
    expect(rejects.map(({ reason, line }) => [reason, line])).toEqual([
      ["column_count", 2],
      ["column_count", 3],
      ["column_count", 4],
    ]);
    expect(airports).toHaveLength(1);
  });

  it("counts as duplicate_iata: the larger type stays, then the lower id", async () => {
    const { airports, rejects } = await read(
      anAirportRow({ id: "30", type: "small_airport" }),
      anAirportRow({ id: "20" }),
      anAirportRow({ id: "3" }),
      anAirportRow({ id: "1", type: "heliport" }),
    );
    expect(airports.map(({ id }) => id)).toEqual(["3"]);
    expect(rejects).toEqual([
      { reason: "duplicate_iata", line: 3, iata: "ZRH", id: "20" },
      { reason: "duplicate_iata", line: 2, iata: "ZRH", id: "30" },
      { reason: "duplicate_iata", line: 5, iata: "ZRH", id: "1" },
    ]);
  });

  it("counts as duplicate_id: the first by IATA code stays", async () => {
    const { airports, rejects } = await read(
      anAirportRow({ id: "7", iata_code: "ZRH" }),
      anAirportRow({ id: "7", iata_code: "AAA" }),
      anAirportRow({ id: "8", iata_code: "BBB" }),
    );
    expect(airports.map(({ id, iata }) => [id, iata])).toEqual([
      ["7", "AAA"],
      ["8", "BBB"],
    ]);
    expect(rejects).toEqual([{ reason: "duplicate_id", line: 2, iata: "ZRH", id: "7" }]);
  });

  it("leaves the same airport whatever the order of rows that differ in nothing but their texts", async () => {
    const rows = [anAirportRow({ name: "Zürich" }), anAirportRow({ name: "Kloten" })];
    const [there, back] = [await read(...rows), await read(...rows.toReversed())];
    expect(there.airports).toHaveLength(1);
    expect(back.airports).toEqual(there.airports);
  });

  it("does not push out an airport that is good", async () => {
    const { airports } = await read(
      anAirportRow({ id: "3", latitude_deg: "?" }),
      anAirportRow({ id: "20" }),
    );
    expect(airports.map(({ id }) => id)).toEqual(["20"]);
  });
});

describe("a row that readAirports repairs", () => {
  it.each<[Row, Partial<AirportsRead["airports"][number]>]>([
    [{ name: " Kloten \u00a0 Field\t\r\n" }, { name: "Kloten Field" }],
    [{ name: "KLOTEN FIELD II" }, { name: "Kloten Field II" }],
    [{ name: "KLOTEN FIELD (CLOSED)" }, { name: "Kloten Field" }],
    [{ municipality: "ZÜRICH" }, {}],
    [{ name: "Zu\u0308rich Airport" }, {}],
    [{ name: "Kloten (closed) Field" }, { name: "Kloten Field" }],
    [{ name: "(Duplicate)Kloten" }, { name: "Kloten" }],
    [{ name: "Kloten (INACTIVE}" }, { name: "Kloten" }],
    [{ name: "Kloten [Under Construction]" }, { name: "Kloten" }],
    [{ name: "Kloten (U.C.)" }, { name: "Kloten" }],
    [{ name: "XXX Kloten" }, { name: "Kloten" }],
    [{ name: "Kloten (abandoned/closed" }, { name: "Kloten" }],
    [{ name: "Kloten - مطار كلوتن" }, { name: "Kloten" }],
    [{ name: "Kloten (UCLA) - K-16" }, { name: "Kloten (UCLA) - K-16" }],
    [{ name: "Kloten (military)" }, { name: "Kloten (military)" }],
    [{ municipality: "  St.  Gallen " }, { municipality: "St. Gallen" }],
    [{ icao_code: "LSZ", gps_code: "LSMD" }, { icao: "LSMD" }],
    [{ icao_code: "", gps_code: "LS-1", ident: "LSZH" }, { icao: "" }],
    [{ iata_code: " zrh " }, {}],
    [{ latitude_deg: " +47.4580574999 " }, { lat: 47.4581 }],
    [{ latitude_deg: "-0.0000001" }, { lat: 0 }],
    [
      { latitude_deg: "-90", longitude_deg: "180" },
      { lat: -90, lon: 180 },
    ],
  ])("becomes, for the values %j, an airport with %j", async (changes, repaired) => {
    const { airports } = await read(anAirportRow(changes));
    expect(airports).toEqual([aSourceAirport(repaired)]);
  });
});

describe("roundDegrees", () => {
  it("never returns a negative zero, which JSON and Protocol Buffers would distinguish", () => {
    expect(Object.is(roundDegrees(-0.0000001), 0)).toBe(true);
    expect(Object.is(roundDegrees(-0), 0)).toBe(true);
  });
});
