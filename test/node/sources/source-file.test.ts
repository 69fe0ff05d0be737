import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { decodeFile, findFile, nameFile } from "../../../src/sources/source-file.ts";
import { streamOf } from "../../builders/source.ts";

const text = async (name: string, bytes: Uint8Array) =>
  decodeFile(name, streamOf(bytes)).then((stream) => new Response(stream).text());

describe("the ending of a file's name", () => {
  it("decides whether the file is decompressed", async () => {
    expect(await text("airports.csv.gz", gzipSync("id\n"))).toBe("id\n");
    expect(await text("airports.csv", new TextEncoder().encode("id\n"))).toBe("id\n");
  });

  it.each([
    [
      { "airports.csv": 1, "regions.csv.gz": 2 },
      { name: "airports.csv", file: 1 },
    ],
    [
      { "regions.csv": 2, "airports.csv.gz": 1 },
      { name: "airports.csv.gz", file: 1 },
    ],
    [{ "regions.csv": 2, "airports.csv.zip": 1 }, undefined],
    [{}, undefined],
  ])("is left out when the file of a table is looked for in %j", (files, found) => {
    expect(findFile("airports.csv", files)).toEqual(found);
  });

  it("is given by what the bytes are", async () => {
    const name = async (bytes: Uint8Array) =>
      nameFile("regions.csv", { where: "r", bytes, maxBytes: 100_000 });
    expect(await name(gzipSync("code,name\n"))).toBe("regions.csv.gz");
    expect(await name(new TextEncoder().encode("\ufeffcode,name\n"))).toBe("regions.csv");
  });
});
