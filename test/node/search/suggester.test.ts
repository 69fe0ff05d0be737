import { build } from "esbuild";
import { gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { FILES_MAX_BYTES, Suggester } from "../../../src/search/suggester.ts";
import { PLACES_PATH } from "../../../src/search/places.ts";
import { readerOf, searchAssets } from "../../builders/search-assets.ts";

const files = await searchAssets();
const LETTERS = Array.from("abcdefghijklmnopqrstuvwxyz");

/** A new isolate, and what it has read, in order. */
function anIsolate() {
  const read: string[] = [];
  const suggester = new Suggester(async (path) => {
    read.push(path);
    return readerOf(files)(path);
  });
  const suggest = async (typed: string, locale = "en") =>
    (await suggester.suggest({ typed, locale, limit: 8 })).suggestions.map(({ name }) => name);
  return { read, suggest };
}

describe("a suggester", () => {
  it("reads the places, the names of a language and the shard of a letter once", async () => {
    const { read, suggest } = anIsolate();
    for (const typed of ["par", "PARIS", "p", "pari"]) await suggest(typed);
    expect(read).toEqual([
      PLACES_PATH,
      "search/suggestions/names/en.json",
      "search/suggestions/70.bin",
    ]);
    await suggest("par", "fr");
    expect(read.slice(3)).toEqual(["search/suggestions/names/fr.json"]);
  });

  it("reads no shard for letters that nothing begins with", async () => {
    const { read, suggest } = anIsolate();
    for (const typed of ["", "\u{13000}", "🛫", "...", "\u{1}"])
      expect(await suggest(typed)).toEqual([]);
    expect(read.filter((path) => path.endsWith(".bin"))).toEqual([PLACES_PATH]);
  });

  it("holds at most half a megabyte: what was used last", async () => {
    const { read, suggest } = anIsolate();
    for (const letter of LETTERS) await suggest(letter, "ja");
    const bytesOf = (paths: readonly string[]) =>
      paths.reduce((sum, path) => sum + (files.get(path)?.length ?? NaN), 0);
    const [places = "", names = "", ...shards] = read.splice(0);
    const held = [places, names];
    for (const [at, letter] of [...LETTERS.entries()].toReversed()) {
      await suggest(letter, "ja");
      if (read.length > 0) break;
      held.push(shards[at] ?? "");
    }
    expect(read).toHaveLength(1);
    expect(bytesOf(held)).toBeLessThanOrEqual(500_000);
    expect(bytesOf(held)).toBeGreaterThan(FILES_MAX_BYTES - 100_000);
  });

  it("does not wait for a file without an end", async () => {
    vi.useFakeTimers();
    const suggester = new Suggester(() => new Promise(() => undefined));
    const suggested = suggester.suggest({ typed: "paris", locale: "en", limit: 1 });
    const failed = suggested.catch((cause: unknown) => String(cause));
    await vi.advanceTimersByTimeAsync(3_000);
    vi.useRealTimers();
    expect(await failed).toContain("search/suggestions/places.bin: no answer in 3000 ms");
  });

  it("recovers from a file that could not be read", async () => {
    let isBroken = true;
    const suggester = new Suggester(async (path) => {
      if (isBroken) throw new Error("gone");
      return readerOf(files)(path);
    });
    const wanted = { typed: "paris", locale: "en", limit: 1 };
    await expect(suggester.suggest(wanted)).rejects.toThrow("gone");
    isBroken = false;
    expect((await suggester.suggest(wanted)).suggestions).toHaveLength(1);
  });
});

describe("the files", () => {
  const sizes = [...files].map(([path, { length }]) => ({ path, length }));

  it("leave room for the places, a language and the largest shards", () => {
    const largest = (isWanted: (path: string) => boolean) =>
      Math.max(...sizes.filter(({ path }) => isWanted(path)).map(({ length }) => length));
    const places = largest((path) => path === PLACES_PATH);
    const names = largest((path) => path.includes("/names/"));
    const shard = largest((path) => path.endsWith(".bin") && path !== PLACES_PATH);
    expect(FILES_MAX_BYTES).toBeLessThanOrEqual(500_000);
    expect(places + names + shard).toBeLessThanOrEqual(FILES_MAX_BYTES);
  });

  it("add nothing to the Worker but the code that reads them", async () => {
    const { outputFiles } = await build({
      entryPoints: ["src/search/suggester.ts"],
      bundle: true,
      minify: true,
      write: false,
      format: "esm",
      external: ["node:*", "cloudflare:*"],
    });
    const bytes = outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0);
    expect(bytes).toBeLessThan(10_000);
  });
});
