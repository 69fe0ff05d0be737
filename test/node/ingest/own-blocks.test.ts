import { zstdDecompressSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { concatenate } from "../../../src/catalog/bytes.ts";
import { encodeStart } from "../../../src/catalog/dcz.ts";
import { encodeLocal } from "../../../src/catalog/encode.ts";
import { DELTA_FORMS } from "../../../src/catalog/manifest.ts";
import { encodeBlocks } from "../../../src/ingest/own-blocks.ts";
import { compress } from "../../../src/ingest/segment-coders.ts";
import type { Workspace } from "../../../src/ingest/workspace.ts";
import { acceptedWorkspace } from "../../builders/accepted-workspace.ts";
import { encodeCommon } from "../../builders/encode-common.ts";
import { readSnapshotFile, snapshotOnDisk } from "../../builders/snapshot-on-disk.ts";

const text = (part: string) => new TextEncoder().encode(part);

/** Decodes blocks behind the common part of a body, as a browser does that has the body. */
function decode(blocks: Uint8Array, shared: Uint8Array, body: Uint8Array, bytes: number): Buffer {
  const dictionary = { sha256: "00".repeat(32), bytes: body.length };
  const start = encodeStart({ dictionary, common: shared.length, bytes });
  return zstdDecompressSync(concatenate([start, blocks]).subarray(40), { dictionary: body });
}

const common = text("common ".repeat(40));
const other = concatenate([common, text("something else")]);
const fast = async (bytes: Uint8Array) =>
  compress({ bytes, coding: "zstd", offset: 0, windowBits: 0, effort: "fast" });

/** Encodes a part and decodes it behind the common part of another body. */
async function throughBlocks(part: Uint8Array, encode = fast): Promise<Uint8Array> {
  const blocks = (await encodeBlocks(part, encode)) ?? new Uint8Array();
  const decoded = decode(blocks, common, other, common.length + part.length);
  return new Uint8Array(decoded.subarray(common.length));
}

describe("the blocks of a part", () => {
  it.each([0, 1, 200, 70_000, 300_000])("make %i bytes again", async (length) => {
    const part = text("0123456789,abcdefghijklmnopqrstuvwxyz;".repeat(length)).subarray(0, length);
    expect(await throughBlocks(part)).toEqual(part);
    expect((await encodeBlocks(part, fast))?.length).toBeLessThan(300);
  });

  it.each([
    ["the byte before", "a"],
    ["the fourth byte before", "wxyz"],
    ["the eighth byte before", "rstuvwxy"],
  ])("repeat no distance that only the start of a frame sets: %s", async (_, unit) => {
    const rest = Array.from({ length: 900 }, (__, index) => `${index} of ${unit}`).join();
    const part = text(unit.repeat(40) + rest);
    for (const effort of ["fast", "best"] as const) {
      const withEffort = async (bytes: Uint8Array) =>
        compress({ bytes, coding: "zstd", offset: 0, windowBits: 0, effort });
      expect(await throughBlocks(part, withEffort)).toEqual(part);
    }
  });

  it("are not made by an encoder that loses a byte", async () => {
    const part = text(Array.from({ length: 900 }, (_, index) => `region ${index}`).join());
    expect(await throughBlocks(part)).toEqual(part);
    const made = encodeBlocks(part, (bytes) => fast(bytes.with(400, 0)));
    await expect(made).resolves.toBeUndefined();
    const cut = encodeBlocks(part, async (bytes) => (await fast(bytes)).subarray(0, -1));
    await expect(cut).resolves.toBeUndefined();
  });

  it("are those of before if they make the part, and otherwise made anew", async () => {
    const [before, part] = [text("the regions of before"), text("the regions of today!")];
    const [old, made] = [await encodeBlocks(before, fast), await encodeBlocks(part, fast)];
    const never = () => Promise.reject(new Error("compressed"));
    expect(await encodeBlocks(part, never, made)).toBe(made);
    for (const earlier of [old, made?.subarray(0, -1), new Uint8Array()])
      expect(await encodeBlocks(part, fast, earlier)).toEqual(made);
  });
});

describe("the snapshot's catalog", () => {
  let workspace: Workspace;

  beforeAll(async () => {
    const files = ["airports.csv.gz", "regions.csv.gz"].map((name) => [
      name,
      readSnapshotFile(name),
    ]);
    workspace = await acceptedWorkspace(Object.fromEntries(files), snapshotOnDisk);
  });

  it("has blocks of whichever regions come first", async () => {
    const names = await workspace.namesIn("de");
    const { regions } = workspace.catalog;
    for (let first = 0; first + 200 < regions.length; first += 600) {
      const parts = encodeLocal(regions.slice(first, first + 200), names);
      for (const form of DELTA_FORMS)
        expect(Buffer.compare(await throughBlocks(parts[form]), parts[form])).toBe(0);
    }
  });

  it.each(DELTA_FORMS)(
    "becomes that of another language from the English one, in %s",
    async (form) => {
      const shared = encodeCommon(workspace.catalog)[form];
      const partIn = async (locale: string) =>
        encodeLocal(workspace.catalog.regions, await workspace.namesIn(locale))[form];
      const english = concatenate([shared, await partIn("en")]);
      for (const locale of ["ar", "de", "ja", "ru", "th"]) {
        const part = await partIn(locale);
        const blocks = (await encodeBlocks(part, fast)) ?? new Uint8Array();
        const body = concatenate([shared, part]);
        expect(decode(blocks, shared, english, body.length).equals(body)).toBe(true);
        expect(blocks.length).toBeLessThan(180_000);
      }
    },
  );
});
