import { fromBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyDiff, type CatalogDiff } from "../../../client/src/apply-diff.ts";
import { LocationsResponseSchema } from "../../../gen/locations/v1/locations_pb.ts";
import { composeBody } from "../../../src/parts/compose.ts";
import type { Manifest, StoredDiff } from "../../../src/parts/manifest.ts";
import { DIFF_LISTED } from "../../../src/ingest/diffs.ts";
import { blobKey } from "../../../src/storage/keys.ts";
import { tryReadBody } from "../../../src/storage/catalog-store.ts";
import { fuzzed } from "../../builders/fuzzed.ts";
import { PipelineWorld } from "../../builders/pipeline-world.ts";
import { aSnapshot, moreAirports, smallAirports } from "../../builders/small-snapshot.ts";
import { anAirportRow, type Row } from "../../builders/source.ts";

/** The message of a version in a locale. */
async function messageOf(world: PipelineWorld, version: Manifest, locale: string) {
  const body = composeBody(version, { locale, representation: "proto", coding: "identity" });
  const copy = body && (await tryReadBody(world.store, body));
  if (!copy?.ok) throw new Error(`generation ${version.generation} has no message in ${locale}`);
  return fromBinary(LocationsResponseSchema, copy.value);
}

/** The changes that are stored in a locale. */
async function readDiff(world: PipelineWorld, { common, local }: StoredDiff, locale: string) {
  const texts = [common, local[locale] ?? ""].map((sha256) => {
    const bytes = world.store.r2.get(blobKey(sha256));
    expect(bytes).toEqual(world.store.kv.get(blobKey(sha256)));
    return new TextDecoder().decode(bytes);
  });
  return { locale, ...(JSON.parse(`{${texts.join(",")}}`) as Omit<CatalogDiff, "locale">) };
}

/** Checks that every diff of the current version makes that version of an earlier one. */
async function expectExact(world: PipelineWorld): Promise<void> {
  const { current, versions } = world;
  if (current === null) throw new Error("nothing was published");
  for (const diff of current.diffs) {
    const from = versions.find(({ generation }) => generation === diff.generation);
    if (from === undefined) throw new Error(`there is no generation ${diff.generation}`);
    expect(diff).toMatchObject({
      published_at: from.published_at,
      catalog_sha256: from.catalog_sha256,
    });
    expect(Object.keys(diff.local).toSorted()).toEqual(Object.keys(from.locales).toSorted());
    for (const locale of Object.keys(diff.local)) {
      const earlier = await messageOf(world, from, locale);
      const changes = await readDiff(world, diff, locale);
      expect(applyDiff(earlier, changes)).toEqual(await messageOf(world, current, locale));
    }
  }
}

async function publish(world: PipelineWorld, airports: readonly Row[], names = {}) {
  world.snapshot = aSnapshot({ airports, names });
  world.forced = true;
  await world.runToEnd();
}

const renamed = (name: string): Row[] => [{ ...anAirportRow(), name }, ...smallAirports.slice(1)];
const generationsOf = ({ current }: PipelineWorld) =>
  current?.diffs.map(({ generation }) => generation);

/** Snapshots that share airports and names, so that each kind of difference is met. */
const anySnapshot = fc.record({
  airports: fc
    .subarray(moreAirports(8), { minLength: 1 })
    .chain((rows) =>
      fc
        .array(fc.constantFrom("", " II"), { minLength: rows.length, maxLength: rows.length })
        .map((ends) =>
          rows.map((row, index) => ({ ...row, name: row["name"] + (ends[index] ?? "") })),
        ),
    ),
  names: fc.record({
    de: fc.constantFrom(
      "m49:150,Europa,europa\n",
      "m49:150,Abendland,abendland\niso3166-2:CH-ZH,Zürich,zuerich-ch\n",
    ),
  }),
});

describe("the diffs of a version", () => {
  it("make it of each of the last three contents, in every locale", async () => {
    const snapshots = fc.array(anySnapshot, { minLength: 2, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(snapshots, async (all) => {
        const world = new PipelineWorld();
        for (const { airports, names } of all) await publish(world, airports, names);
        const { current, versions } = world;
        const others = versions
          .map(({ catalog_sha256 }) => catalog_sha256)
          .filter((sha256) => sha256 !== current?.catalog_sha256);
        expect(current?.diffs.map(({ catalog_sha256 }) => catalog_sha256)).toEqual(
          [...new Set(others)].slice(0, 3),
        );
        await expectExact(world);
      }),
      fuzzed(5),
    );
  });

  it("start from the newest version of a content, and never from the same content", async () => {
    const world = new PipelineWorld();
    for (const name of ["A", "B", "A", "C"]) await publish(world, renamed(name));
    expect(generationsOf(world)).toEqual([3, 2]);
    await publish(world, renamed("B"));
    expect(generationsOf(world)).toEqual([4, 3]);
    await expectExact(world);
  });

  it("read no regions where none has changed: only the proof of a part does, once", async () => {
    const world = new PipelineWorld();
    await publish(world, renamed("A"));
    const blob = world.current?.locales["de"]?.parts.proto.gzip.sha256 ?? "none";
    const before = world.store.calls.length;
    await publish(world, renamed("B"));
    expect(generationsOf(world)).toEqual([1]);
    const read = world.store.calls.slice(before).filter((call) => call.includes(" get "));
    expect(read.filter((call) => call.includes(blob))).toHaveLength(1);
  });

  it("leave out a content without any copy, and wait for a store that does not answer", async () => {
    const world = new PipelineWorld();
    for (const name of ["A", "B"]) await publish(world, renamed(name));
    const lost = blobKey(world.versions[1]?.shared.proto.identity.sha256 ?? "");
    world.store.before = (call) => {
      if (call.endsWith(` get ${lost}`)) throw new Error("no answer");
    };
    await expect(publish(world, renamed("C"))).rejects.toThrow("no answer");
    world.store.before = () => {};
    for (const replica of [world.store.kv, world.store.r2]) replica.delete(lost);
    await publish(world, renamed("C"));
    expect(generationsOf(world)).toEqual([2]);
    await expectExact(world);
  });

  it("end before a content from which too much has changed", async () => {
    const many = (name: string, count: number) =>
      Array.from({ length: count }, (_, index) => {
        const letters = [index / 676, (index / 26) % 26, index % 26];
        const iata_code = letters.map((at) => String.fromCharCode(65 + Math.trunc(at))).join("");
        const codes = { iata_code, icao_code: "", gps_code: "" };
        return anAirportRow({ id: String(500_000 + index), name, ...codes });
      });
    const world = new PipelineWorld(["en"]);
    await publish(world, [...many("A", DIFF_LISTED), anAirportRow()]);
    await publish(world, [...many("B", DIFF_LISTED), anAirportRow()]);
    expect(generationsOf(world)).toEqual([1]);
    await expectExact(world);
    await publish(world, [...many("C", DIFF_LISTED + 1), anAirportRow()]);
    await publish(world, [...many("D", DIFF_LISTED + 1), anAirportRow()]);
    expect(generationsOf(world)).toEqual([2, 1]);
  });

  it("need every locale of the newer version in the older one, and omit a new locale", async () => {
    const world = new PipelineWorld(["de", "en"]);
    await publish(world, renamed("A"));
    world.locales = ["de", "en", "ja"];
    await publish(world, renamed("B"));
    expect(Object.keys(world.current?.diffs[0]?.local ?? {})).toEqual(["de", "en"]);
    await expectExact(world);
    world.locales = ["de", "en"];
    await publish(world, renamed("C"));
    expect(generationsOf(world)).toEqual([1]);
  });

  it("compare with the regions that are current after a rollback in the middle of a run", async () => {
    const world = new PipelineWorld();
    for (const name of ["A", "B"]) await publish(world, renamed(name));
    const [second, first] = world.versions;
    world.snapshot = aSnapshot({ airports: renamed("C") });
    await world.runUpTo("publish");
    if (first === undefined || second === undefined) throw new Error("two versions were published");
    world.current = { ...first, generation: second.generation + 1, previous: second.generation };
    world.versions = [world.current, ...world.versions];
    await world.runOn();
    expect(generationsOf(world)).toEqual([3, 2]);
    await expectExact(world);
  });
});

describe("a dry run, and a run that the guards refuse", () => {
  it("store no diff", async () => {
    const world = new PipelineWorld();
    await publish(world, moreAirports(20));
    const stored = [...world.store.r2.keys()];
    world.snapshot = aSnapshot({ airports: moreAirports(21) });
    await world.runToEnd("dry_run");
    world.snapshot = aSnapshot({ airports: moreAirports(10) });
    world.forced = false;
    await expect(world.runToEnd()).rejects.toThrow("guard_shrink");
    expect([...world.store.r2.keys()]).toEqual(stored);
  });
});
