import { zstdDecompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type Delta, encodeDcz } from "../../../src/catalog/dcz.ts";
import { type Body, DELTA_FORMS, type Manifest } from "../../../src/catalog/manifest.ts";
import { DeltaMaker } from "../../../src/ingest/deltas.ts";
import { SegmentStore } from "../../../src/ingest/segment-store.ts";
import { blobKey } from "../../../src/storage/keys.ts";
import { tryReadBody } from "../../../src/storage/catalog-store.ts";
import { PipelineWorld } from "../../builders/pipeline-world.ts";
import { aSnapshot, moreAirports } from "../../builders/small-snapshot.ts";
import type { Row } from "../../builders/source.ts";

const airports = moreAirports(60);
const renamed = (name: string, at = 30): Row[] =>
  airports.map((row, index) => (index === at ? { ...row, name } : row));

async function publish(world: PipelineWorld, rows: readonly Row[], names = {}) {
  world.snapshot = aSnapshot({ airports: rows, names });
  world.forced = true;
  await world.runToEnd();
  if (world.current === null) throw new Error("nothing was published");
  return world.current;
}

async function read(world: PipelineWorld, body: Body | undefined): Promise<Buffer> {
  const copy = body && (await tryReadBody(world.store, body));
  if (!copy?.ok) throw new Error("no such body");
  return Buffer.from(copy.value);
}

/** Decodes all deltas of a version, as a browser does, and lists what they are of. */
async function decodeAll(world: PipelineWorld, current: Manifest): Promise<string[]> {
  const found: string[] = [];
  for (const { generation, deltas } of current.diffs) {
    const from = world.versions.find((version) => version.generation === generation);
    const blob = world.store.kv.get(blobKey(deltas?.blob ?? ""));
    expect(blob).toEqual(world.store.r2.get(blobKey(deltas?.blob ?? "")));
    for (const [locale, forms] of Object.entries(deltas?.locales ?? {}))
      for (const form of DELTA_FORMS) {
        const { dictionary, start, bytes } = forms[form] ?? { dictionary: "", start: 0, bytes: 0 };
        const before = from?.locales[locale]?.bodies[form].identity;
        expect(dictionary).toBe(before?.sha256);
        const sent = Buffer.from(blob ?? []).subarray(start, start + bytes);
        expect(sent.subarray(8, 40).toString("hex")).toBe(dictionary);
        const decoded = zstdDecompressSync(sent.subarray(40), {
          dictionary: await read(world, before),
        });
        expect(decoded).toEqual(await read(world, current.locales[locale]?.bodies[form].identity));
        found.push(`${generation} ${locale} ${form}`);
      }
  }
  return found;
}

const inBothForms = (names: readonly string[]) =>
  names.flatMap((name) => DELTA_FORMS.map((form) => `${name} ${form}`)).toSorted();

describe("a publication", () => {
  it("makes deltas to each body from that of each of the last three contents, in one blob for each content", async () => {
    const world = new PipelineWorld(["de", "en"]);
    for (const name of ["A", "B", "C"]) await publish(world, renamed(name));
    world.store.calls.length = 0;
    const current = await publish(world, renamed("D"));
    const from = ["1 de", "1 en", "2 de", "2 en", "3 de", "3 en"];
    expect((await decodeAll(world, current)).toSorted()).toEqual(inBothForms(from));
    const blobs = current.diffs.map(({ deltas }) => deltas?.blob);
    const puts = world.store.calls.filter((call) => call.startsWith("kv put catalog/blob/"));
    expect(puts).toEqual(
      expect.arrayContaining(blobs.map((blob) => `kv put ${blobKey(blob ?? "")}`)),
    );
    expect(new Set(puts).size).toBe(puts.length);
  });

  it.each([
    ["a name", renamed("B")],
    ["a region's airports", airports.slice(0, -1)],
  ])("makes a delta of the common part alone after a change of %s", async (_, rows) => {
    const world = new PipelineWorld(["de", "en"]);
    const from = await publish(world, renamed("A"));
    const { diffs, locales } = await publish(world, rows);
    const { deltas } = diffs[0] ?? {};
    const blob = Buffer.from(world.store.kv.get(blobKey(deltas?.blob ?? "")) ?? []);
    for (const [locale, { bodies }] of Object.entries(locales))
      for (const form of DELTA_FORMS) {
        const { start = 0, bytes = 0, common = 0 } = deltas?.locales[locale]?.[form] ?? {};
        const dictionary = await read(world, from.locales[locale]?.bodies[form].identity);
        const sent = blob.subarray(start + bytes, start + bytes + common);
        const decoded = zstdDecompressSync(sent.subarray(40), { dictionary });
        const body = await read(world, bodies[form].identity);
        const [shared] = bodies[form].identity?.segments ?? [];
        expect(decoded).toEqual(body.subarray(0, shared && "blob" in shared ? shared.bytes : 0));
      }
  });

  it("makes deltas of less than 140 bytes for one changed name", async () => {
    const world = new PipelineWorld(["en"]);
    await publish(world, airports);
    const { diffs, locales } = await publish(world, renamed("Another Name"));
    const { proto, json } = diffs[0]?.deltas?.locales["en"] ?? {};
    expect(proto?.bytes).toBeLessThan(140);
    expect(json?.bytes).toBeLessThan(140);
    expect(locales["en"]?.bytes).toBeGreaterThan(4_000);
  });

  it("makes deltas for changed names of regions, and none for a body that stays the same", async () => {
    const world = new PipelineWorld(["de", "en"]);
    await publish(world, airports);
    const current = await publish(world, airports, { de: "m49:150,Abendland,abendland\n" });
    expect((await decodeAll(world, current)).toSorted()).toEqual(inBothForms(["1 de"]));
  });

  it("makes no delta for a new locale or from a body without any copy", async () => {
    const world = new PipelineWorld(["de", "en"]);
    const { locales } = await publish(world, airports);
    const [, german] = locales["de"]?.bodies.json.identity?.segments ?? [];
    const lost = german !== undefined && "blob" in german ? blobKey(german.blob) : "";
    world.store.before = (call) => {
      if (call.endsWith(` get ${lost}`)) throw new Error("no answer");
    };
    world.locales = ["de", "en", "ja"];
    await expect(publish(world, renamed("A"))).rejects.toThrow("no answer");
    world.store.before = () => {};
    for (const replica of [world.store.kv, world.store.r2]) replica.delete(lost);
    const current = await publish(world, renamed("A"), { de: "m49:150,B,b\n" });
    const deltas = current.diffs[0]?.deltas?.locales;
    expect(
      Object.entries(deltas ?? {}).map(([locale, forms]) => [locale, Object.keys(forms)]),
    ).toEqual([
      ["de", ["proto"]],
      ["en", ["proto", "json"]],
    ]);
  });

  it("drops deltas that do not decode to their bodies", async () => {
    const world = new PipelineWorld(["en"]);
    const from = await publish(world, airports);
    const { locales } = await publish(world, renamed("B"));
    const make = (encode?: typeof encodeDcz) =>
      new DeltaMaker(world.store, new SegmentStore(world.store), encode).make(from, locales, {
        current: world.current,
        mustStoreAll: false,
      });
    const misplaced = (delta: Delta) =>
      encodeDcz({
        ...delta,
        matches: delta.matches.map((one) => ({ ...one, from: one.from + 1 })),
      });
    expect(await make(misplaced)).toBe(null);
    expect(Object.keys((await make())?.locales ?? {})).toEqual(["en"]);
  });

  it("makes no delta if too much has changed", async () => {
    const world = new PipelineWorld(["en"]);
    const long = (letter: string) =>
      moreAirports(600).map((row) => ({
        ...row,
        name: `${letter} ${row["name"]} ${letter.repeat(90)}`,
      }));
    await publish(world, long("A"));
    const current = await publish(world, long("B"));
    expect(current.diffs).toMatchObject([{ generation: 1, deltas: null }]);
  });
});
