/**
 * Does the steps of an ingest that need the most memory with a world ten times as large, for a test
 * that runs this with little of it: all up to the uncompressed common part. Writes what came of it
 * as JSON to standard output.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeWorld } from "../../../bench/growth-world.ts";
import { sha256Hex } from "../../../src/catalog/hash.ts";
import { CONTRACT_LIMITS } from "../../../src/catalog/contract-limits.ts";
import { type Checkpoint, FIRST_CHECKPOINT } from "../../../src/ingest/checkpoint.ts";
import { nextCommon } from "../../../src/ingest/common-progress.ts";
import { Pipeline } from "../../../src/ingest/pipeline.ts";
import type { Snapshot } from "../../../src/sources/snapshot.ts";
import { embeddedUpstream } from "../../../src/sources/upstream.ts";
import { DiskCatalogStore, diskArchive } from "../../builders/disk-stores.ts";

const LOCALES = ["ru"];
/** There are too few IATA codes of three letters, and messages are longer than the contract's. */
const LIMITS = { ...CONTRACT_LIMITS, iata: /^[A-Z]{3,4}$/, messageMaxBytes: Infinity };

function isOver(checkpoint: Checkpoint): boolean {
  return checkpoint.stage === "encode" && nextCommon(checkpoint)?.unit.coding !== "identity";
}

const folder = mkdtempSync(join(tmpdir(), "ten-worlds-"));
try {
  writeWorld(folder, 10, LOCALES);
  const snapshot = readWorld(folder);
  const pipeline = new Pipeline({
    store: new DiskCatalogStore(join(folder, "stores")),
    archive: diskArchive(join(folder, "stores")),
    upstreams: { world: embeddedUpstream(snapshot) },
    snapshot,
    locales: LOCALES,
    limits: LIMITS,
    now: Date.now,
  });
  let checkpoint = FIRST_CHECKPOINT;
  while (!isOver(checkpoint)) {
    const { next } = await pipeline.step(checkpoint, {
      mode: "incremental",
      forced: false,
      source: "world",
      current: null,
      archived: {},
      candidate: null,
      noteBlobs: () => undefined,
    });
    if (next === null) throw new Error("the run ended early");
    checkpoint = next;
  }
  const { content } = checkpoint;
  process.stdout.write(JSON.stringify({ counts: content?.counts, broken: content?.violations }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The files of a folder as the Worker's bundle holds them. */
function readWorld(world: string): Snapshot {
  const names = readdirSync(world, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".gz"));
  const files = Object.fromEntries(
    names.map((name) => [name, Uint8Array.from(readFileSync(join(world, name))).buffer]),
  );
  const hashes = names.map((name) => sha256Hex(new Uint8Array(files[name] ?? [])));
  return {
    files,
    sha256: sha256Hex(...hashes),
    locales: LOCALES.map((locale) => ({ locale, coverage: 1, default: true })),
  };
}
