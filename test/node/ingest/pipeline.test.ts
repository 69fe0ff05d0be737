import { ACCEPTED_FILE, HELD_FILE } from "../../../src/ingest/ledger-files.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { blobsOf, messageSha256 } from "../../../src/parts/manifest.ts";
import { LOCALES_IN_A_STEP, sharedParts } from "../../../src/ingest/encode-stage.ts";
import { FIRST_INGEST_CHECKPOINT } from "../../../src/ingest/checkpoint.ts";
import { compressPart } from "../../../src/parts/codings.ts";
import { STAGES } from "../../../src/schemas/run-words.ts";
import { embeddedUpstream } from "../../../src/sources/upstream.ts";
import { blobKey, generationKey, MANIFEST_KEY, sourceKey } from "../../../src/storage/keys.ts";
import { anAirportRow, type Row } from "../../builders/source.ts";
import { PipelineWorld } from "../../builders/pipeline-world.ts";
import { aSnapshot, moreAirports, smallAirports } from "../../builders/small-snapshot.ts";

let world: PipelineWorld;

beforeEach(() => {
  world = new PipelineWorld();
});

const puts = () => world.store.calls.filter((call) => call.includes(" put "));

describe("a run", () => {
  it("goes through its steps in order, and writes the manifests last, in KV at the very end", async () => {
    const pipeline = world.newPipeline();
    const stages: string[] = [];
    for (;;) {
      stages.push(world.checkpoint.stage);
      if ((await world.step(pipeline)).next === null) break;
    }
    const inLocales = Math.ceil(world.locales.length / LOCALES_IN_A_STEP);
    const shared = stages.filter((stage) => stage === "encode").length - inLocales;
    expect(stages.filter((stage, index) => stage !== stages[index - 1])).toEqual(
      STAGES.filter((stage) => stage !== "verify"),
    );
    expect(shared).toBe(sharedParts().length);
    expect(puts().slice(-3)).toEqual([
      `r2 put ${MANIFEST_KEY}`,
      `r2 put ${generationKey(1)}`,
      `kv put ${MANIFEST_KEY}`,
    ]);
  });

  it("publishes every locale, and stores every blob that the manifest names in KV and R2", async () => {
    const end = await world.runToEnd();
    expect(end.outcome).toBe("published");
    expect(Object.keys(world.current?.locales ?? {})).toEqual(["de", "en", "ja"]);
    expect(world.current).toMatchObject({
      generation: 1,
      previous: null,
      published_at: "2026-11-01T04:17:00.000Z",
      counts: { airports: 3, cities: 3, countries: 2, regions: 4 },
    });
    const named = world.current === null ? [] : [...blobsOf(world.current)];
    expect(named).toHaveLength(sharedParts().length + 3 * (2 + 1));
    for (const replica of [world.store.kv, world.store.r2])
      expect(named.filter((sha256) => !replica.has(blobKey(sha256)))).toEqual([]);
  });

  it("stores nothing that all locales share and that decodes to other bytes", async () => {
    world.compress = async (task) => {
      const bytes = Uint8Array.from(task.bytes);
      bytes[2] = (bytes[2] ?? 0) ^ 1;
      return compressPart({ ...task, bytes });
    };
    await world.runUpTo("encode");
    const pipeline = world.newPipeline();
    await world.step(pipeline);
    expect(Object.keys(world.checkpoint.shared.proto ?? {})).toEqual(["identity"]);
    const stored = puts().length;
    await expect(world.step(pipeline)).rejects.toThrow(
      "a shared part in gzip does not decode to its input",
    );
    expect(puts()).toHaveLength(stored);
  });

  it("never probes a key of KV before it writes it: KV remembers misses", async () => {
    await world.runToEnd();
    const { calls } = world.store;
    for (const get of new Set(calls.filter((call) => call.startsWith("kv get "))))
      expect(calls.indexOf(get.replace(" get ", " put "))).toBeLessThan(calls.indexOf(get));
  });

  it("reports its rows and entities, and counts its progress to the end", async () => {
    const rows = [
      ...moreAirports(51),
      anAirportRow({ id: "1", iata_code: "" }),
      anAirportRow({ id: "" }),
    ];
    world.snapshot = aSnapshot({ airports: rows });
    await world.runToEnd();
    expect(world.run).toMatchObject({
      counts: {
        airports: { seen: 52, kept: 51, rejected: 1, added: 51, changed: 0, removed: 0 },
        cities: { seen: 4, kept: 4, rejected: 0, added: 4 },
      },
      rejects: [{ reason: "missing_required", line: 54, iata: "ZRH", id: "" }],
      rejects_total: 1,
      accounting: {
        filtered: 1,
        rejected_by_reason: { missing_required: 1 },
      },
    });
    const units = sharedParts().length + 3;
    expect(world.run.progress).toEqual({ done: units, total: units });
    expect(world.run).toMatchObject({ generation_before: null, generation_after: 1 });
  });

  it("measures coverage by the airports of the subdivisions that have a name", async () => {
    await world.runToEnd();
    const { de, ja } = world.current?.locales ?? {};
    expect([de?.coverage, ja?.coverage]).toEqual([1, 0.3333]);
  });

  it("archives upstream's exact bytes, and builds from the archive", async () => {
    await world.runToEnd();
    const { sources = {} } = world.current ?? {};
    const fetched = ["airports.csv.gz", "regions.csv.gz"];
    const made = [ACCEPTED_FILE, HELD_FILE];
    expect(Object.keys(sources)).toEqual(["snapshot", ...fetched, ...made]);
    const call = (kind: string, file: string) => `${kind} ${sourceKey(sources[file] ?? "")}`;
    const stored = (file: string) => [call("get", file), call("put", file)];
    const opened = (file: string) => call("get", file);
    expect(world.archive.bucket.calls).toEqual([
      ...fetched.flatMap(stored),
      ...fetched.map(opened),
      ...made.flatMap(stored),
      opened(ACCEPTED_FILE),
    ]);
  });
});

describe("a run over the published content", () => {
  const archived = () => world.archive.bucket.calls.filter((call) => call.startsWith("put "));
  const writes = () => [...puts(), ...archived()];

  it("ends as unchanged: it writes nothing to any store, and publishes nothing", async () => {
    await world.runToEnd();
    const before = { writes: writes(), current: world.current };
    expect(before.writes.length).toBeGreaterThan(10);
    const end = await world.runToEnd();
    expect(end).toMatchObject({ outcome: "unchanged", publish: null, next: null });
    expect({ writes: writes(), current: world.current }).toEqual(before);
    expect(world.run.catalog_sha256).toBe(world.current?.catalog_sha256);
  });

  it("archives upstream's bytes again if the archive has lost them, or in mode full", async () => {
    await world.runToEnd();
    const keys = [...world.archive.bucket.files.keys()];
    const [lost = ""] = keys;
    world.archive.bucket.files.delete(lost);
    world.archive.bucket.calls.length = 0;
    expect((await world.runToEnd()).outcome).toBe("unchanged");
    expect(archived()).toEqual([`put ${lost}`]);
    world.archive.bucket.calls.length = 0;
    await world.runToEnd("full");
    expect(archived()).toEqual(keys.map((key) => `put ${key}`));
  });

  it("ends as unchanged also when upstream's bytes differ and the content does not", async () => {
    await world.runToEnd();
    world.snapshot = aSnapshot({ airports: smallAirports.toReversed() });
    expect((await world.runToEnd()).outcome).toBe("unchanged");
  });

  it("stores every blob again in mode full, and publishes no version of the same bytes", async () => {
    await world.runToEnd();
    const { current } = world;
    const before = puts();
    const end = await world.runToEnd("full");
    expect(end).toMatchObject({ outcome: "unchanged", publish: null, next: null });
    const blobs = before.filter((call) => call.includes("catalog/blob/"));
    expect(puts().slice(before.length)).toEqual(blobs);
    expect(world.current).toEqual(current);
    expect(world.run.generation_before).toBe(1);
  });
});

describe("a deploy that compresses harder", () => {
  beforeEach(async () => {
    world.snapshot = aSnapshot({ airports: moreAirports(500) }); // a smaller world has the same bytes
    await world.runToEnd();
    world.effort = "best";
  });

  it("publishes the same content in other bytes in mode full", async () => {
    const before = world.current;
    expect((await world.runToEnd("full")).outcome).toBe("published");
    const { current } = world;
    const [old, de] = [before, current].map((version) => version?.locales["de"]);
    if (!old || !de || !before || !current) throw new Error("German was not published");
    expect(current).toMatchObject({ generation: 2, catalog_sha256: before.catalog_sha256 });
    expect(messageSha256(de)).toBe(messageSha256(old));
    expect(current.shared.json.gzip).not.toEqual(before.shared.json.gzip);
    expect(de.parts.json.gzip).not.toEqual(old.parts.json.gzip);
    expect(de.parts.json.digests.gzip).not.toBe(old.parts.json.digests.gzip);
    expect(de.parts.json.digests.identity).toBe(old.parts.json.digests.identity);
    expect(world.run.counts?.airports).toMatchObject({ added: 0, changed: 0, removed: 0 });
  });
});

describe("a run with a change", () => {
  it("writes only the blobs that the published version lacks", async () => {
    const airports = moreAirports(20);
    world.snapshot = aSnapshot({ airports });
    await world.runToEnd();
    const before = world.current === null ? new Set() : blobsOf(world.current);
    const calls = world.store.calls.length;
    world.snapshot = aSnapshot({
      airports: airports.map((row) =>
        row["iata_code"] === "GVA" ? { ...row, name: "Genève" } : row,
      ),
    });
    expect((await world.runToEnd()).outcome).toBe("published");
    const written = world.store.calls
      .slice(calls)
      .flatMap((call) => /^kv put catalog\/blob\/(.*)$/.exec(call)?.[1] ?? []);
    const after = world.current === null ? [] : [...blobsOf(world.current)];
    expect(written.toSorted()).toEqual(after.filter((blob) => !before.has(blob)).toSorted());
    // What all locales share, and two of the diff.
    expect(written).toHaveLength(sharedParts().length + 2);
    expect(world.run.counts?.airports).toMatchObject({ added: 0, changed: 1, removed: 0 });
    expect(world.current).toMatchObject({ generation: 2, previous: 1 });
  });

  it("compresses only what all locales share, and in mode full everything", async () => {
    const compressed = async (mode: "incremental" | "full") => {
      const codings: string[] = [];
      world.compress = async (task) => {
        codings.push(task.coding);
        return compressPart(task);
      };
      await world.runToEnd(mode);
      return codings.toSorted();
    };
    const airports = moreAirports(20);
    world = new PipelineWorld(["de"]);
    world.effort = "best";
    world.snapshot = aSnapshot({ airports });
    const all = await compressed("incremental");
    const [first = {}, ...others] = airports;
    world.snapshot = aSnapshot({ airports: [{ ...first, name: "Kloten" }, ...others] });
    const shared = sharedParts().flatMap(({ name }) => (name === "identity" ? [] : [name]));
    expect(shared).toEqual(["gzip", "gzip"]);
    expect(await compressed("incremental")).toEqual(shared);
    expect(world.current).toMatchObject({ generation: 2 });
    expect(await compressed("full")).toEqual(all);
    expect(all).toHaveLength(2 * shared.length);
  });

  it("stores again what both stores have lost of the published version", async () => {
    const airports = moreAirports(20);
    world.snapshot = aSnapshot({ airports });
    await world.runToEnd();
    const { parts, names } = world.current?.locales["de"] ?? {};
    const lost = [parts?.proto.gzip, parts?.json.gzip, names].map((part) => part?.sha256 ?? "none");
    for (const replica of [world.store.kv, world.store.r2])
      for (const sha256 of lost) replica.delete(blobKey(sha256));
    const [first = {}, ...others] = airports;
    world.snapshot = aSnapshot({ airports: [{ ...first, name: "Kloten" }, ...others] });
    expect((await world.runToEnd()).outcome).toBe("published");
    const named = world.current === null ? [] : [...blobsOf(world.current)];
    expect(named).toEqual(expect.arrayContaining(lost));
    for (const replica of [world.store.kv, world.store.r2])
      expect(named.filter((sha256) => !replica.has(blobKey(sha256)))).toEqual([]);
  });

  it("repeats a step if no store answers whether a part is there", async () => {
    const airports = moreAirports(20);
    world.snapshot = aSnapshot({ airports });
    await world.runToEnd();
    const own = world.current?.locales["de"]?.parts.proto.gzip.sha256 ?? "none";
    const [first = {}, ...others] = airports;
    world.snapshot = aSnapshot({ airports: [{ ...first, name: "Kloten" }, ...others] });
    world.store.before = (call) => {
      if (call.includes(` get ${blobKey(own)}`)) throw new Error("no connection");
    };
    await expect(world.runToEnd()).rejects.toThrow("no connection");
    expect(world.checkpoint.stage).toBe("encode");
    expect(world.checkpoint.entries).toEqual({});
    world.store.before = () => {};
    expect((await world.runOn()).outcome).toBe("published");
  });
});

describe("airports without scheduled service", () => {
  const unserved = (row: Row, index: number) =>
    index % 2 === 0 ? row : { ...row, scheduled_service: "no" };

  beforeEach(async () => {
    world.snapshot = aSnapshot({ airports: moreAirports(40).map(unserved) });
    await world.runToEnd();
    world.airportSet = "scheduled";
  });

  it("leave the catalog only by force, since that removes half of the published airports", async () => {
    await expect(world.runToEnd()).rejects.toMatchObject({
      code: "guard_shrink",
      message: expect.stringContaining(
        'airports 40 → 20 (AIRPORTS was "all" and is now "scheduled"; if you intend this, approve the candidate with force)',
      ),
    });
    world.forced = true;
    expect((await world.runToEnd()).outcome).toBe("published");
    expect(world.current).toMatchObject({
      generation: 2,
      airport_set: "scheduled",
      counts: { airports: 20 },
    });
    expect(world.run.accounting).toMatchObject({ filtered: 0, unscheduled: 20 });
  });

  it("restart a run that was in progress when the setting was changed", async () => {
    world.forced = true;
    const pipeline = world.newPipeline();
    world.checkpoint = FIRST_INGEST_CHECKPOINT;
    await world.step(pipeline);
    world.airportSet = "all";
    await world.step(world.newPipeline());
    expect(world.checkpoint.stage).toBe("fetch");
  });
});

describe("the age of the data", () => {
  it("appears in the version for each source, and an unchanged catalog keeps it", async () => {
    await world.runToEnd();
    const published = {
      as_of: "2026-10-20",
      data: [
        { name: "test: airports.csv", as_of: "2026-10-20" },
        { name: "test: regions.csv", as_of: "2026-10-19" },
        { name: "OurAirports: regions", as_of: "2026-10-19" },
        { name: "GeoNames", as_of: "2026-03-05" },
      ],
    };
    expect(world.current).toMatchObject(published);
    const embedded = embeddedUpstream(world.snapshot);
    world.upstream = {
      ...embedded,
      fetch: async () => (await embedded.fetch()).map((file) => ({ ...file, as_of: "2026-11-01" })),
    };
    expect((await world.runToEnd()).outcome).toBe("unchanged");
    expect(world.current).toMatchObject({ generation: 1, ...published });
    expect(world.run.upstream?.["airports.csv.gz"]?.as_of).toBe("2026-11-01");
  });

  it("stays known while the bytes are the same, even if a later run does not name it", async () => {
    const embedded = embeddedUpstream(world.snapshot);
    const dated = (file: { name: string; bytes: Uint8Array }, as_of?: string) => ({
      name: file.name,
      bytes: file.bytes,
      ...(as_of !== undefined && { as_of }),
    });
    world.upstream = {
      ...embedded,
      fetch: async () => (await embedded.fetch()).map((file) => dated(file, "2026-11-01")),
    };
    await world.runToEnd();
    world.upstream = {
      ...embedded,
      fetch: async () => (await embedded.fetch()).map((file) => dated(file)),
    };
    for (const mode of ["incremental", "full"] as const) {
      await world.runToEnd(mode, () => world.newPipeline());
      expect(world.run.upstream?.["airports.csv.gz"]?.as_of, mode).toBe("2026-11-01");
    }
  });

  it("stays unknown if nobody has recorded it", async () => {
    const embedded = embeddedUpstream(world.snapshot);
    world.upstream = {
      ...embedded,
      fetch: async () => (await embedded.fetch()).map(({ name, bytes }) => ({ name, bytes })),
    };
    await world.runToEnd();
    expect(world.current?.as_of).toBeNull();
  });
});
