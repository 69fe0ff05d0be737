import { sha256Hex } from "../src/catalog/hash.ts";
import { type Blob, commonUnits, encodeBodies, encodeCommonSegment } from "../src/ingest/bodies.ts";
import { createWorkspace, type Workspace } from "../src/ingest/workspace.ts";
import { embeddedSnapshot } from "../src/sources/embedded-snapshot.ts";
import { snapshotOpener } from "../src/sources/snapshot.ts";

/** The snapshot's files are opened by name here, so that their hashes are not needed. */
const EMBEDDED_SOURCES = { "airports.csv.gz": "", "regions.csv.gz": "" };

let workspace: Workspace | undefined;
const segments: Blob[] = [];

/** Does one part of an ingest, as `Pipeline` does, without the stores. */
export async function runPhase(
  phase: string,
  parameters: URLSearchParams,
): Promise<{ readonly bytes: number }> {
  switch (phase) {
    case "build":
      workspace = await build();
      return { bytes: workspace.common.proto.length };
    case "encode-locale": {
      const { encoded } = await opened().local(parameters.get("locale") ?? "en");
      return { bytes: sha256Hex(opened().common.proto, encoded.proto).length };
    }
    case "compress-common":
      segments.splice(0, segments.length, ...commonUnits().map(compressCommon));
      return { bytes: total(segments) };
    case "compress-locale":
      return { bytes: await compressLocale(parameters.get("locale") ?? "en") };
    default:
      throw new Error(`no phase ${phase}`);
  }
}

function build(): Promise<Workspace> {
  const open = snapshotOpener(embeddedSnapshot);
  const openSource = (file: string) =>
    Promise.resolve(new Blob([embeddedSnapshot.files[file] ?? ""]).stream());
  return createWorkspace(EMBEDDED_SOURCES, openSource, open);
}

function compressCommon(unit: ReturnType<typeof commonUnits>[number]): Blob {
  return encodeCommonSegment(unit, opened().common);
}

async function compressLocale(locale: string): Promise<number> {
  const { encoded } = await opened().local(locale);
  const { blobs } = encodeBodies(opened().common, encoded, (unit) => {
    const index = commonUnits().findIndex(
      (other) => other.representation === unit.representation && other.coding === unit.coding,
    );
    const segment = segments[index];
    if (segment === undefined) throw new Error("compress the common part first");
    return segment;
  });
  return total(blobs);
}

function opened(): Workspace {
  if (workspace === undefined) throw new Error("build first");
  return workspace;
}

function total(blobs: readonly Blob[]): number {
  return blobs.reduce((sum, blob) => sum + blob.bytes.length, 0);
}
