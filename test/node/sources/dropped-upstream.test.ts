import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type DropBox, droppedUpstream } from "../../../src/sources/dropped-upstream.ts";
import { streamOf } from "../../builders/source.ts";
import { AIRPORTS_CSV, REGIONS_CSV, textOf } from "../../builders/upstream-world.ts";

const DROPPED_AT = new Date("2026-10-31T23:59:59.000Z");

type Files = { readonly [name: string]: string | Uint8Array };

const GOOD: Files = { "airports.csv": AIRPORTS_CSV, "regions.csv": REGIONS_CSV };

/** A drop box in memory, and how many of its files were discarded. */
class MemoryDropBox implements DropBox {
  readonly prefix = "drop/";
  discarded = 0;
  readonly #files: Files;

  constructor(files: Files) {
    this.#files = files;
  }

  async open(name: string) {
    const content = this.#files[name];
    if (content === undefined) return null;
    return {
      size: new TextEncoder().encode(String(content)).length,
      droppedAt: DROPPED_AT,
      read: () => new Response(streamOf(content)).arrayBuffer(),
      discard: async () => void this.discarded++,
    };
  }
}

const fetchFrom = async (box: DropBox, maxBytes = 100_000) =>
  droppedUpstream(box, { maxBytes }).fetch();

describe("a dropped upstream", () => {
  it("gives the files that were dropped, byte for byte", async () => {
    const files = await fetchFrom(new MemoryDropBox(GOOD));
    expect(files.map(({ name }) => name)).toEqual(["airports.csv", "regions.csv"]);
    expect([textOf(files, 0), textOf(files, 1)]).toEqual([AIRPORTS_CSV, REGIONS_CSV]);
    expect(files.map(({ as_of }) => as_of)).toEqual(["2026-10-31", "2026-10-31"]);
  });

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
      "drop/airports.csv is gzip that breaks off",
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
      message:
        "there is both drop/airports.csv and drop/airports.csv.gz; delete the one that is not meant",
    });
    expect(box.discarded).toBe(2);
  });

  it("refuses a file that is too large, without reading it", async () => {
    const box = new MemoryDropBox(GOOD);
    await expect(fetchFrom(box, 20)).rejects.toMatchObject({
      fault: "too_large",
      message: expect.stringMatching(
        /^drop\/airports\.csv announces \d+ bytes, over the limit of 20/,
      ),
    });
    expect(box.discarded).toBe(1);
  });

  it("refuses a small file that swells over the limit", async () => {
    const box = new MemoryDropBox({ ...GOOD, "airports.csv": gzipSync("1,2,3\n".repeat(20_000)) });
    await expect(fetchFrom(box)).rejects.toMatchObject({ fault: "too_large" });
  });
});
