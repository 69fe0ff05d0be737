import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { fileMedium } from "../src/file-store.ts";
import { openCatalogIn } from "../src/full-catalog.ts";
import { openSearchIn } from "../src/picker.ts";
import { sha256Of } from "../src/sha256.ts";
import { type Copy, type Medium, Store, STORE_MS } from "../src/store.ts";
import { CatalogService } from "../../test/builders/catalog-service.ts";
import { catalogBytes } from "../../test/builders/faulty-service.ts";
import { otherNames, servedPlaces } from "../../web/build/search-files.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const folder = mkdtempSync(join(tmpdir(), "locations-store-"));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

let folders = 0;
const newFolder = () => join(folder, String(folders++));

function memoryMedium(values = new Map<string, Bytes>()): Medium {
  return {
    read: async (key) => values.get(key),
    async replace(key, next) {
      const value = next(values.get(key));
      if (value !== undefined) values.set(key, value);
    },
    delete: async (key) => void values.delete(key),
    keys: async () => [...values.keys()],
  };
}

function aCopy(version: number, lookedAt = Date.now()): Copy {
  const bytes = Uint8Array.of(10, version, 10);
  const catalog = { bytes, sha256: "", version, language: "de" };
  return { version, lookedAt, catalog, files: { ranks: null } };
}

const KEY = "https://locations.example.com catalog de";

/** Whatever the copies before were, the next one is written and read. */
async function written(medium: Medium, ...copies: readonly Copy[]): Promise<Copy | undefined> {
  const store = new Store(medium);
  for (const copy of copies) await store.write(KEY, copy);
  return store.read(KEY);
}

describe.each([
  ["memory", () => memoryMedium()],
  ["files", () => fileMedium(newFolder())],
])("a store in %s", (_, newMedium) => {
  it("has nothing, and then all of a copy", async () => {
    const medium = newMedium();
    expect(await new Store(medium).read(KEY)).toBeUndefined();
    const copy: Copy = {
      ...aCopy(1),
      files: { ranks: { etag: '"a"', content: { cities: [] } as never }, names: null },
    };
    expect(await written(medium, copy)).toEqual(copy);
  });

  it("has a search without a catalog as well", async () => {
    const copy: Copy = { version: 0, lookedAt: 5, files: { names: null } };
    expect(await written(newMedium(), copy)).toEqual(copy);
  });

  it("keeps the newer version, whichever is written last", async () => {
    const now = Date.now();
    const [older, newer] = [aCopy(1, now), aCopy(2, now - 1000)];
    expect(await written(newMedium(), older, newer)).toEqual(newer);
    expect(await written(newMedium(), newer, older)).toEqual(newer);
  });

  it("keeps what was looked at last of one version", async () => {
    const now = Date.now();
    const early = { ...aCopy(1, now - 10), files: {} };
    const late = aCopy(1, now);
    expect(await written(newMedium(), late, early)).toEqual(late);
    expect(await written(newMedium(), early, late)).toEqual(late);
  });

  it("takes files that have come since the same look", async () => {
    const more = aCopy(1, Date.now());
    const less = { ...more, files: {} };
    expect(more.files).not.toEqual({});
    expect(await written(newMedium(), less, more)).toEqual(more);
  });

  it("takes no time in the future for a later one", async () => {
    const wrong = aCopy(1, Date.now() + 1e9);
    const copy = { ...aCopy(1), files: {} };
    expect(await written(newMedium(), wrong, copy)).toEqual(copy);
    const read = await written(newMedium(), wrong);
    expect(read?.lookedAt).toBeLessThanOrEqual(Date.now());
  });

  it("writes the same copy again only after an hour, for its time", async () => {
    const [now, hour] = [Date.now(), 3_600_000];
    const copy = aCopy(1, now - 2 * hour);
    const soon = { ...copy, lookedAt: copy.lookedAt + hour - 1 };
    const later = { ...copy, lookedAt: copy.lookedAt + hour };
    expect(await written(newMedium(), copy, soon)).toEqual(copy);
    expect(await written(newMedium(), copy, later)).toEqual(later);
  });

  it("keeps as many copies as one wants, those that were used last", async () => {
    const medium = newMedium();
    const store = new Store(medium);
    const use = async (name: string, count: number) => {
      await store.write(`a catalog ${name}`, aCopy(1));
      await store.keepLastUsed("a catalog", `a catalog ${name}`, count);
    };
    await store.write("a catalogue b", aCopy(1));
    for (const name of ["b", "c", "d", "b"]) await use(name, 2);
    expect(await store.lastUsed("a catalog")).toEqual(["a catalog b", "a catalog d"]);
    expect((await medium.keys()).toSorted()).toEqual([
      "a catalog",
      "a catalog b",
      "a catalog d",
      "a catalogue b",
    ]);
  });
});

describe("a record", () => {
  async function record(): Promise<Bytes> {
    const values = new Map<string, Bytes>();
    await written(memoryMedium(values), aCopy(1));
    return values.get(KEY) ?? new Uint8Array();
  }

  it("is none if any byte of it is another, or missing, and is deleted and written anew", async () => {
    const whole = await record();
    expect(whole.length).toBeGreaterThan(100);
    for (let at = 0; at < whole.length; at++) {
      const flipped = Uint8Array.from(whole, (byte, index) => (index === at ? byte ^ 1 : byte));
      for (const damaged of [flipped, whole.slice(0, at)]) {
        const values = new Map([[KEY, damaged]]);
        const store = new Store(memoryMedium(values));
        expect(await store.read(KEY)).toBeUndefined();
        expect(values.size).toBe(0);
        await store.write(KEY, aCopy(1));
        expect(await store.read(KEY)).toMatchObject({ version: 1 });
      }
    }
  });

  it.each([
    ["of another format", (text: string) => text.replace('"format":2', '"format":1')],
    ["that is no object", () => "null\n"],
    ["of somebody else", () => "SQLite format 3"],
    ["that is empty", () => ""],
  ])("%s is none", async (_, change) => {
    const text = change(new TextDecoder().decode(await record()));
    const values = new Map([[KEY, new Uint8Array(new TextEncoder().encode(text))]]);
    expect(await new Store(memoryMedium(values)).read(KEY)).toBeUndefined();
    expect(await written(memoryMedium(values), aCopy(3))).toMatchObject({ version: 3 });
  });
});

describe("a file", () => {
  it("is replaced as a whole, and leaves none beside it", async () => {
    const path = newFolder();
    const medium = fileMedium(path);
    await written(medium, aCopy(1));
    const [file = ""] = readdirSync(path);
    const { ino } = statSync(join(path, file));
    await written(medium, aCopy(2));
    expect(readdirSync(path)).toEqual([file]);
    expect(statSync(join(path, file)).ino).not.toBe(ino);
  });

  it("of a program that was killed goes after an hour, and one of somebody else's stays", async () => {
    const path = newFolder();
    const medium = fileMedium(path);
    await written(medium, aCopy(1));
    const [own = ""] = readdirSync(path);
    const others = ["100%.copy", "notes.txt", `${own}.txt`];
    const [old, young] = [1, 2].map(() => `${own}.${crypto.randomUUID()}`);
    for (const name of [...others, old, young]) writeFileSync(join(path, name ?? ""), "");
    const overAnHourAgo = Date.now() / 1000 - 3_601;
    for (const name of [...others, old])
      utimesSync(join(path, name ?? ""), overAnHourAgo, overAnHourAgo);
    expect(await medium.keys()).toEqual([KEY]);
    await new Store(medium).keepLastUsed(KEY.slice(0, -3), `${KEY}-AT`, 1);
    const list = `${encodeURIComponent(KEY.slice(0, -3))}.copy`;
    expect(new Set(readdirSync(path))).toEqual(new Set([list, ...others, young]));
  });

  it("that cannot be replaced leaves none beside it", async () => {
    const path = newFolder();
    const name = `${encodeURIComponent(KEY)}.copy`;
    mkdirSync(join(path, name), { recursive: true });
    expect(await written(fileMedium(path), aCopy(1))).toBeUndefined();
    expect(readdirSync(path)).toEqual([name]);
  });
});

const never = () => new Promise<never>(() => undefined);
const refuse = async () => {
  throw new Error("refused");
};

/** A medium whose values are all something else. */
const of = (value: unknown): Medium => ({
  ...memoryMedium(),
  read: async () => value as Bytes,
  replace: async (_, next) => void next(value as Bytes),
});

const MEDIA: readonly (readonly [string, () => Medium])[] = [
  ["never answers", () => ({ read: never, replace: never, delete: never, keys: never })],
  ["refuses", () => ({ read: refuse, replace: refuse, delete: refuse, keys: refuse })],
  ["is full", () => ({ ...memoryMedium(), replace: refuse })],
  ["never ends a change", () => ({ ...memoryMedium(), replace: never, delete: never })],
  ["lists nothing", () => ({ ...memoryMedium(), keys: never })],
  ["is damaged", () => of(Uint8Array.of(1, 2, 3))],
  ["is somebody else's", () => of("text")],
];

describe.each(MEDIA)("a store that %s", (_, newMedium) => {
  it("neither holds up nor fails an opening", async () => {
    const service = new CatalogService({ version: 1, bytes: catalogBytes() });
    service.files = { "served.json": servedPlaces(), "names.json": otherNames() };
    // In half of this time, the service answers.
    const timeoutMs = STORE_MS;
    const options = { baseUrl: "https://locations.example.com", fetch: service.fetch, timeoutMs };
    for (const open of [openCatalogIn, openSearchIn]) {
      const search = await open(options, new Store(newMedium()));
      expect((await search.search("zurich"))[0]).toMatchObject({ countryCode: "CH" });
      await search.refresh();
    }
  });
});

describe("a call of the store that is late", () => {
  it("is waited for once, and until it ends nothing else is", async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const medium = memoryMedium();
    const store = new Store({ ...medium, read: (key) => promise.then(() => medium.read(key)) });
    const startedAt = performance.now();
    expect(await store.read(KEY)).toBeUndefined();
    const first = performance.now() - startedAt;
    expect(first).toBeGreaterThan(STORE_MS - 50);
    await store.write(KEY, aCopy(1));
    expect(await store.read(KEY)).toBeUndefined();
    expect(performance.now() - startedAt - first).toBeLessThan(STORE_MS / 2);
    resolve(undefined);
    await expect.poll(() => written({ ...medium }, aCopy(1))).toBeDefined();
    await store.write(KEY, aCopy(2));
    expect(await store.read(KEY)).toMatchObject({ version: 2 });
  });
});

it("a hash is that of the bytes", async () => {
  expect(await sha256Of(new Uint8Array())).toMatch(/^e3b0c44298fc1c14/);
});
