import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type DropBox, droppedUpstream } from "../../../src/sources/dropped-upstream.ts";
import { streamOf } from "../../builders/source.ts";
import { AIRPORTS_CSV, REGIONS_CSV, textOf } from "../../builders/upstream-world.ts";

const NOW = Date.parse("2026-11-01T04:17:00.000Z");

interface Dates {
  readonly request?: string;
  readonly metadata?: string;
}

type Files = { readonly [name: string]: string | Uint8Array };

const GOOD: Files = { "airports.csv": AIRPORTS_CSV, "regions.csv": REGIONS_CSV };

/** A drop box in memory, and how many of its files were read. */
class MemoryDropBox implements DropBox {
  readonly prefix = "drop/";
  reads = 0;
  readonly #files: Files;
  readonly #asOf: string | undefined;

  constructor(files: Files, asOf?: string) {
    this.#files = files;
    this.#asOf = asOf;
  }

  async find(name: string) {
    const content = this.#files[name];
    if (content === undefined) return null;
    return { size: new TextEncoder().encode(String(content)).length, as_of: this.#asOf };
  }

  async read(name: string) {
    this.reads++;
    return new Response(streamOf(this.#files[name] ?? "")).arrayBuffer();
  }
}

const fetchFrom = async (box: DropBox, { maxBytes = 100_000, as_of = "" } = {}) =>
  droppedUpstream(box, { maxBytes, now: () => NOW }).fetch({}, as_of || undefined);

describe("a dropped upstream", () => {
  it("gives the files that were dropped, byte for byte", async () => {
    const files = await fetchFrom(new MemoryDropBox(GOOD));
    expect(files.map(({ name }) => name)).toEqual(["airports.csv", "regions.csv"]);
    expect([textOf(files, 0), textOf(files, 1)]).toEqual([AIRPORTS_CSV, REGIONS_CSV]);
  });

  it.each([
    ["the request", { request: "2026-02-10", metadata: "2026-03-11" }, "2026-02-10"],
    ["the files' metadata", { metadata: "2026-03-11" }, "2026-03-11"],
    ["today's metadata", { metadata: "2026-11-01" }, "2026-11-01"],
  ])("dates the files by %s", async (_, { request = "", metadata }: Dates, day) => {
    const files = await fetchFrom(new MemoryDropBox(GOOD, metadata), { as_of: request });
    expect(files.map(({ as_of }) => as_of)).toEqual([day, day]);
  });

  it("leaves the date open if nobody has named one, so that an old file does not look new", async () => {
    const files = await fetchFrom(new MemoryDropBox(GOOD));
    for (const file of files) expect(file).not.toHaveProperty("as_of");
  });

  it.each(["2026-11-02", "2026-02-30", "February", ""])(
    "refuses files of the day “%s”, and reads none",
    async (metadata) => {
      const box = new MemoryDropBox(GOOD, metadata);
      await expect(fetchFrom(box)).rejects.toMatchObject({
        fault: "bad_date",
        message: `the date “${metadata}” of drop/airports.csv is no past day, such as 2026-02-28; correct it in the request or in the metadata of the file`,
      });
      expect(box.reads).toBe(0);
    },
  );

  it("gives gzip files as they are, and names by their bytes what is named wrongly", async () => {
    const compressed = gzipSync(AIRPORTS_CSV);
    const files = await fetchFrom(
      new MemoryDropBox({ "airports.csv": compressed, "regions.csv.gz": REGIONS_CSV }),
    );
    expect(files.map(({ name }) => name)).toEqual(["airports.csv.gz", "regions.csv"]);
    expect(Buffer.from(files[0]?.bytes ?? [])).toEqual(compressed);
  });

  it.each([
    [
      "missing_file",
      "one is missing",
      { "airports.csv": AIRPORTS_CSV },
      "neither drop/regions.csv nor drop/regions.csv.gz",
    ],
    ["missing_file", "all are missing", {}, "neither drop/airports.csv nor drop/airports.csv.gz"],
    ["empty", "one is empty", { ...GOOD, "regions.csv": "" }, "drop/regions.csv is empty"],
    [
      "not_csv",
      "one is a page",
      { ...GOOD, "airports.csv": "<html>" },
      "drop/airports.csv holds a page",
    ],
    [
      "bad_encoding",
      "one is broken gzip",
      { ...GOOD, "airports.csv": gzipSync(AIRPORTS_CSV).subarray(0, 50) },
      "drop/airports.csv is truncated or damaged gzip",
    ],
  ])("refuses the files as %s when %s", async (fault, _, files: Files, message) => {
    await expect(fetchFrom(new MemoryDropBox(files))).rejects.toMatchObject({
      name: "SourceError",
      fault,
      message: expect.stringContaining(message),
    });
  });

  it("refuses to choose between a plain file and a gzip one, and reads neither", async () => {
    const box = new MemoryDropBox({ ...GOOD, "airports.csv.gz": gzipSync(AIRPORTS_CSV) });
    await expect(fetchFrom(box)).rejects.toMatchObject({
      fault: "ambiguous_file",
      message: "there is both drop/airports.csv and drop/airports.csv.gz; delete the wrong one",
    });
    expect(box.reads).toBe(0);
  });

  it("refuses a file that is too large, without reading it", async () => {
    const box = new MemoryDropBox(GOOD);
    await expect(fetchFrom(box, { maxBytes: 20 })).rejects.toMatchObject({
      fault: "too_large",
      message: expect.stringMatching(
        /^drop\/airports\.csv announces \d+ bytes, over the limit of 20/,
      ),
    });
    expect(box.reads).toBe(0);
  });

  it("refuses a small file that swells over the limit", async () => {
    const box = new MemoryDropBox({ ...GOOD, "airports.csv": gzipSync("1,2,3\n".repeat(20_000)) });
    await expect(fetchFrom(box)).rejects.toMatchObject({ fault: "too_large" });
  });
});
