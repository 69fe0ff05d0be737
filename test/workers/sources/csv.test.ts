import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCsv } from "../../../src/sources/csv.ts";
import { gunzip } from "../../../src/sources/snapshot.ts";
import { csvOf, type Row, streamOf } from "../../builders/source.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

interface Read {
  readonly line: number;
  readonly complete: boolean;
  readonly a: string;
  readonly b: string;
}

/** The rows of a file with the columns `a` and `b`. */
async function read(content: string | Uint8Array, chunkLength?: number): Promise<Read[]> {
  const rows: Read[] = [];
  for await (const row of readCsv("test.csv", streamOf(content, chunkLength), ["a", "b"]))
    rows.push({ line: row.line, complete: row.complete, a: row.get("a"), b: row.get("b") });
  return rows;
}

const values = async (content: string) => (await read(content)).map(({ a, b }) => [a, b]);

describe("readCsv", () => {
  it("reads values by the names of their columns, whatever their order", async () => {
    expect(await values("x,b,a\n1,2,3\n4,5,6\n")).toEqual([
      ["3", "2"],
      ["6", "5"],
    ]);
  });

  it("lets other work have its turn while it reads a long file", async () => {
    let turns = 0;
    let isDone = false;
    const takeTurns = () => {
      turns++;
      if (!isDone) setImmediate(takeTurns);
    };
    setImmediate(takeTurns);
    const bytes = new TextEncoder().encode(`a\n${"1\n".repeat(5_000)}`);
    let rows = 0;
    for await (const row of readCsv("x.csv", new Blob([bytes]).stream(), [])) rows += row ? 1 : 0;
    isDone = true;
    expect(rows).toBe(5_000);
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  it("answers an empty text for a column that the file lacks", async () => {
    for await (const row of readCsv("test.csv", streamOf("a,b\n1,2\n"), ["a"]))
      expect(row.get("icao_code")).toBe("");
  });

  it.each([
    ["a byte order mark", "\ufeffa,b\n1,2\n"],
    ["CRLF", "a,b\r\n1,2\r\n"],
    ["a byte order mark and CRLF", "\ufeffa,b\r\n1,2\r\n"],
    ["no line break at the end", "a,b\n1,2"],
    ["spaces in the header", " a , b\n1,2\n"],
    ["quotes without need", '"a","b"\n"1","2"\n'],
  ])("reads a file with %s", async (_, text) => {
    expect(await values(text)).toEqual([["1", "2"]]);
  });

  it("keeps commas, quotes and line breaks within quotes, and counts their lines", async () => {
    expect(await read('a,b\n"1,\n""x""",2\n3,4\n')).toEqual([
      { line: 3, complete: true, a: '1,\n"x"', b: "2" },
      { line: 4, complete: true, a: "3", b: "4" },
    ]);
  });

  it("trims nothing", async () => {
    expect(await values("a,b\n 1 ,\t2\u00a0\n")).toEqual([[" 1 ", "\t2\u00a0"]]);
  });

  it("marks rows with more or fewer values than the header", async () => {
    const rows = await read("a,b\n1\n1,2,3\n\n1,2\n");
    expect(rows.map(({ complete }) => complete)).toEqual([false, false, false, true]);
    expect(rows.map(({ b }) => b)).toEqual(["", "2", "", "2"]);
  });

  it.each([
    ["missing_columns", "no header at all", ""],
    ["malformed_csv", "a column is there twice", "a,b,c,c\n1,2,3,4\n"],
    ["missing_columns", "a required column is not there", "a,c\n1,2\n"],
    ["missing_columns", "an error page in place of the file", "<html><body>503</body></html>\n"],
    ["truncated", "the last row breaks off before its last column", "a,b\n1,2\n3"],
    ["truncated", "the last row is truncated within quotes", 'a,b\n1,2\n3,"4'],
    ["truncated", "the last row breaks off after a line break in quotes", 'a,b\n1,2\n"3\n'],
    ["malformed_csv", "one line is all commas", `a,b\n${",".repeat(300_000)}\n1,2\n`],
    ["malformed_csv", "one value has no end", `a,b\n1,${"x".repeat(300_000)}`],
    ["malformed_csv", "a quote is never closed", `a,b\n1,"2\n${"3,4\n".repeat(240_000)}`],
    ["malformed_csv", "a quote closes in the middle of a value", 'a,b\n"1"x,2\n'],
  ])("refuses a file as %s when %s", async (fault, _, text) => {
    await expect(read(text)).rejects.toMatchObject({ name: "SourceError", fault });
  });

  it("names the file and the missing columns", async () => {
    await expect(read("x,y\n")).rejects.toThrow("test.csv lacks the columns a, b");
  });

  it.each([
    ["Latin-1", Uint8Array.of(0x5a, 0xfc, 0x72)],
    ["a lone surrogate", Uint8Array.of(0xed, 0xa0, 0x80)],
    ["an overlong slash", Uint8Array.of(0xc0, 0xaf)],
    ["a letter that breaks off", Uint8Array.of(0xc3)],
  ])("refuses bytes that are not UTF-8: %s", async (_, bad) => {
    const bytes = Buffer.concat([utf8("a,b\n1,"), bad]);
    await expect(read(bytes)).rejects.toMatchObject({ name: "SourceError", fault: "not_utf8" });
  });

  it("passes on the error of a stream that fails", async () => {
    const failing = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(utf8("a,b\n1,2\n")),
      pull: (controller) => controller.error(new Error("connection lost")),
    });
    await expect(readCsv("test.csv", failing, []).next()).rejects.toThrow("connection lost");
  });

  it("does not call a stream that cannot be decompressed a wrong encoding", async () => {
    const broken = gunzip(streamOf("a,b\n1,2\n"));
    await expect(readCsv("test.csv", broken, []).next()).rejects.toMatchObject({
      name: "TypeError",
    });
  });

  it("lets go of a stream whose reader stops early", async () => {
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(utf8("a,b\n".repeat(1000))),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const row of readCsv("test.csv", endless, [])) if (row.line > 2000) break;
    await expect.poll(() => cancelled).toBe(true);
  });

  it("reads the same rows wherever the stream is cut", async () => {
    const text = '\ufeffa,b\r\n"Zürich,\r\n""ZRH""",🛫\r\n日本,\r\n"",x\r\n';
    const whole = await read(text);
    expect(whole).toHaveLength(3);
    for (let length = 1; length < utf8(text).length; length++)
      expect(await read(text, length)).toEqual(whole);
  });

  it("gives back any values that were written", async () => {
    const anyValue = fc.string({
      unit: fc.constantFrom("a", "é", "🛫", '"', ",", "\n", "\r", " "),
    });
    const anyRow = fc.record({ a: anyValue, b: anyValue });
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow), fc.integer({ min: 1, max: 9 }), async (rows, length) => {
        const written: Row[] = rows.map((row) => ({ ...row, end: "." }));
        const back = await read(csvOf(written, ["a", "b", "end"]), length);
        expect(back.map(({ a, b }) => ({ a, b }))).toEqual(rows);
      }),
    );
  });
});
