import { describe, expect, it } from "vitest";
import { gunzip, snapshotOpener } from "../../../src/sources/snapshot.ts";
import { embeddedUpstream } from "../../../src/sources/upstream.ts";
import { streamOf } from "../../builders/source.ts";
import { readSnapshotFile, snapshotOnDisk } from "../../builders/snapshot-on-disk.ts";

describe("snapshotOpener", () => {
  it("opens files uncompressed", async () => {
    const text = await new Response(snapshotOpener(snapshotOnDisk)("countries.csv.gz")).text();
    expect(text).toMatch(/^iso_code2,iso_code3,/);
  });

  it("names a file that is not there", () => {
    expect(() => snapshotOpener(snapshotOnDisk)("names/tlh.csv.gz")).toThrow(
      "the snapshot has no file names/tlh.csv.gz",
    );
  });
});

describe("gunzip", () => {
  it.each([
    ["are not gzip", streamOf("id,name\n")],
    ["break off", streamOf(readSnapshotFile("countries.csv.gz").slice(0, 2000))],
  ])("fails on bytes that %s", async (_, bytes) => {
    await expect(new Response(gunzip(bytes)).text()).rejects.toThrow();
  });
});

describe("embeddedUpstream", () => {
  it("gives the snapshot's files byte for byte, without a network", async () => {
    const files = await embeddedUpstream(snapshotOnDisk).fetch();
    expect(files.map(({ name }) => name)).toEqual(["airports.csv.gz", "regions.csv.gz"]);
    for (const { name, bytes } of files)
      expect(Buffer.from(bytes)).toEqual(Buffer.from(readSnapshotFile(name)));
  });
});
