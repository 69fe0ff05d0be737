import { Buffer } from "node:buffer";
import { env } from "cloudflare:workers";
import { concatenate, sha256Hex } from "../src/catalog/bytes.ts";
import { type EncodedPart, encodeLocal } from "../src/catalog/encode.ts";
import type { Coding } from "../src/catalog/manifest.ts";
import { commonUnits, formOf } from "../src/ingest/bodies.ts";
import { compressSegment } from "../src/ingest/segment-coders.ts";
import type { Workspace } from "../src/ingest/workspace.ts";
import { embeddedSnapshot } from "../src/storage/embedded-snapshot.ts";
import { acceptedWorkspace } from "../test/builders/accepted-workspace.ts";
import { encodeAll, MemoryCommon } from "../test/builders/memory-common.ts";
import { PipelineWorld } from "../test/builders/pipeline-world.ts";
import { encodeCommon } from "../test/builders/encode-common.ts";

const snapshot = embeddedSnapshot(env.ASSETS);
let compressed: MemoryCommon | undefined;
let opened: { readonly workspace: Workspace; readonly common: EncodedPart } | undefined;

/** Does one part of an ingest, as `Pipeline` does, without the stores; or all, with them in memory. */
export async function runPhase(
  phase: string,
  parameters: URLSearchParams,
): Promise<{ readonly bytes: number }> {
  const locale = parameters.get("locale") ?? "en";
  switch (phase) {
    case "build": {
      const workspace = await build();
      opened = { workspace, common: encodeCommon(workspace.catalog) };
      return { bytes: opened.common.proto.length };
    }
    case "encode-locale": {
      const encoded = await encodeLocale(locale);
      return { bytes: sha256Hex(built().common.proto, encoded.proto).length };
    }
    case "compress-common":
      compressed = new MemoryCommon(built().common, "best");
      return { bytes: total(compressed.blobs.map(({ bytes }) => bytes)) };
    case "compress-locale": {
      const encoded = await encodeLocale(locale);
      sha256Hex(built().common.proto, encoded.proto);
      return {
        bytes: total(
          commonUnits().map(({ representation, coding }) => {
            const bytes = inRepresentation(representation, encoded);
            return compress(coding, bytes, 1);
          }),
        ),
      };
    }
    case "compress-whole": {
      const encoded = await encodeLocale(locale);
      return {
        bytes: total(
          commonUnits().map(({ representation, coding }) => {
            const form = formOf(representation);
            const whole = concatenate([built().common[form], encoded[form]]);
            const bytes = inRepresentation(representation, { ...encoded, [form]: whole });
            return compress(coding, bytes, 0);
          }),
        ),
      };
    }
    case "encode-bodies": {
      if (compressed === undefined) throw new Error("compress the common part first");
      const { blobs } = await encodeAll(await encodeLocale(locale), compressed);
      return { bytes: total(blobs.map(({ bytes }) => bytes)) };
    }
    case "whole-in-memory": {
      const world = new PipelineWorld(parameters.get("locales")?.split(","));
      world.snapshot = snapshot;
      world.effort = "best";
      await world.runToEnd();
      return { bytes: total([...world.store.kv.values()]) };
    }
    default:
      throw new Error(`no phase ${phase}`);
  }
}

function compress(coding: Coding, bytes: Uint8Array, offset: number): Uint8Array {
  return coding === "identity" ? bytes : compressSegment({ bytes, coding, offset, effort: "best" });
}

/** A part in a representation, but for the few bytes that a frame or base64 moves. */
function inRepresentation(
  representation: Parameters<typeof formOf>[0],
  part: EncodedPart,
): Uint8Array {
  const bytes = part[formOf(representation)];
  if (representation !== "grpc-web-text") return bytes;
  return new TextEncoder().encode(Buffer.from(bytes).toString("base64"));
}

async function build(): Promise<Workspace> {
  const file = async (name: string) => new Uint8Array(await snapshot.read(name));
  const [airports, regions] = ["airports.csv.gz", "regions.csv.gz"];
  return acceptedWorkspace(
    { [airports]: await file(airports), [regions]: await file(regions) },
    snapshot,
  );
}

async function encodeLocale(locale: string): Promise<EncodedPart> {
  const { catalog, namesIn } = built().workspace;
  return encodeLocal(catalog.regions, await namesIn(locale));
}

function built() {
  if (opened === undefined) throw new Error("build first");
  return opened;
}

function total(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, bytes) => sum + bytes.length, 0);
}
