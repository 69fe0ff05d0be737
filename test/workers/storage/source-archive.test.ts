import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import { sourceKey } from "../../../src/storage/keys.ts";
import { createSourceArchive } from "../../../src/storage/source-archive.ts";
import { listSmallPages } from "../small-pages.ts";

afterEach(() => void vi.restoreAllMocks());

const archive = createSourceArchive(env.ARCHIVE);
const bytes = new TextEncoder().encode("id,name\n");

describe("the source archive", () => {
  it("returns the exact bytes", async () => {
    await archive.write(sha256Hex(bytes), bytes);
    const stream = await archive.open("airports.csv.gz", sha256Hex(bytes));
    expect(new Uint8Array(await new Response(stream).arrayBuffer())).toEqual(bytes);
  });

  it("refuses bytes under another hash", async () => {
    await expect(archive.write(sha256Hex("other"), bytes)).rejects.toThrow();
  });

  it("reads a stored file, and null for a missing one and for another hash", async () => {
    await archive.write(sha256Hex(bytes), bytes);
    expect(await archive.read(sha256Hex(bytes))).toEqual(bytes);
    expect(await archive.read(sha256Hex("none"))).toBeNull();
    await env.ARCHIVE.put(sourceKey(sha256Hex("all")), "al");
    expect(await archive.read(sha256Hex("all"))).toBeNull();
  });

  it("lists and deletes more files than R2 lists in one page", async () => {
    listSmallPages(env.ARCHIVE, 3);
    const names = Array.from({ length: 11 }, (_, n) => sha256Hex(`file ${n}`));
    await Promise.all(names.map((name) => env.ARCHIVE.put(sourceKey(name), "a")));
    const listed = await archive.list();
    expect(listed).toEqual(expect.arrayContaining(names));
    const gone = new Set(names.slice(0, 10));
    await archive.delete([...gone]);
    const left = listed.filter((name) => !gone.has(name));
    expect((await archive.list()).toSorted()).toEqual(left.toSorted());
  });

  it("names a file that it does not have", async () => {
    await expect(archive.open("airports.csv.gz", sha256Hex("none"))).rejects.toThrow(
      `airports.csv.gz is not archived as sources/${sha256Hex("none")}`,
    );
  });

  it("never returns damaged bytes, which would make a wrong catalog", async () => {
    await env.ARCHIVE.put(sourceKey(sha256Hex("whole")), "halv");
    await expect(archive.open("airports.csv", sha256Hex("whole"))).rejects.toThrow(
      /^airports\.csv is not archived as sources\/[0-9a-f]{64}, or is damaged$/,
    );
  });
});
