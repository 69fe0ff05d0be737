/** The files that the service hands out to its callers. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { create, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { file_locations_v1_locations } from "../../gen/locations/v1/locations_pb.ts";

/** Packs the package for `npm install`. The same sources give the same bytes. */
export async function packClient(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "locations-client-"));
  const args = ["pack", "--workspace=client", "--silent", `--pack-destination=${folder}`];
  try {
    const { stdout } = await promisify(execFile)("npm", args);
    return readFileSync(join(folder, stdout.trim().split("\n").at(-1) ?? ""));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The contract as descriptors, for `buf curl --schema`. */
export function describeContract(): Uint8Array {
  const file = [file_locations_v1_locations.proto];
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
}
