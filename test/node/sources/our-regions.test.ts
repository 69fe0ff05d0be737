import { describe, expect, it } from "vitest";
import { readSubdivisions } from "../../../src/sources/our-airports.ts";
import { streamOf } from "../../builders/source.ts";

describe("readRegionNames", () => {
  it("rejects a row that names a region again, and takes the same name in any order", async () => {
    const rows = ["CH-ZH,Zürich", "CH-ZH,Zurich"];
    for (const order of [rows, rows.toReversed()]) {
      const text = `code,name\n${order.join("\n")}\n`;
      const { names, rejects } = await readSubdivisions(streamOf(text), new Set(["CH-ZH"]));
      expect([...names]).toEqual([["CH-ZH", "Zurich"]]);
      expect(rejects).toEqual([{ reason: "duplicate_region", line: 3, iata: "", id: "CH-ZH" }]);
    }
  });

  it("rejects a name that cannot be served, and takes another row's", async () => {
    const text = "code,name\nCH-ZH,<b>Zürich</b>\nCH-ZH,ZÜRICH\nCH-BE,Bern 🐻\n";
    const { names, rejects } = await readSubdivisions(streamOf(text), new Set(["CH-ZH", "CH-BE"]));
    expect([...names]).toEqual([["CH-ZH", "Zürich"]]);
    expect(rejects.map(({ reason, id }) => [reason, id])).toEqual([
      ["bad_text", "CH-ZH"],
      ["bad_text", "CH-BE"],
    ]);
  });

  const HEADER = "id,code,name\n";
  const otherRows = (count: number) => "9,XX-YY,Other\n".repeat(count);

  it("reads the English names that are wanted, and skips rows without a name", async () => {
    const text = `${HEADER}1,CH-ZH, Canton  of Zürich\n2,CH-BE,\n4,NA-KH,Khomas\n5,NA-ER,Erongo\n`;
    const codes = new Set(["CH-ZH", "CH-BE", "NA-KH"]);
    expect([...(await readSubdivisions(streamOf(text), codes)).names]).toEqual([
      ["CH-ZH", "Canton of Zürich"],
      ["NA-KH", "Khomas"],
    ]);
  });

  it("skips rows of another length while they are at most 2 % of all", async () => {
    const text = `${HEADER}1,CH-GE\n2,CH-ZH,Zürich,more\n3,NA-KH,Khomas\n${otherRows(97)}`;
    const codes = new Set(["CH-GE", "CH-ZH", "NA-KH"]);
    expect([...(await readSubdivisions(streamOf(text), codes)).names]).toEqual([
      ["NA-KH", "Khomas"],
    ]);
  });

  it("takes a small file that ends with an empty line", async () => {
    const text = `${HEADER}3,NA-KH,Khomas\n\n`;
    expect((await readSubdivisions(streamOf(text), new Set(["NA-KH"]))).names.size).toBe(1);
  });

  it("refuses a file of line breaks before it has read them all", async () => {
    const text = `${HEADER}${"\n".repeat(50_002)}`;
    await expect(readSubdivisions(streamOf(text), new Set())).rejects.toThrow(
      /^regions.csv has over 50000 unusable rows up to line .*, most often column_count 50001;/,
    );
  });

  it.each([
    ["2 of 99", `${HEADER}1,CH-GE\n2,CH-ZH,Zürich,more\n${otherRows(97)}`],
    ["3 of 3", `${HEADER}${"1,CH-ZH,Zürich,more\n".repeat(3)}`],
  ])("refuses a file of which %s rows are of another length, wanted or not", async (part, text) => {
    await expect(readSubdivisions(streamOf(text), new Set())).rejects.toMatchObject({
      name: "SourceError",
      fault: "malformed_csv",
      message: `${part} rows of regions.csv have more or fewer values than its header; check that it is the right file`,
    });
  });
});
