/** Global setup: packs the package once. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** The file that `npm pack` has made. */
    client: string;
  }
}

export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), "locations-client-"));
  const args = ["pack", "--workspace=client", "--silent", "--pack-destination", folder];
  const name = execFileSync("npm", args, { encoding: "utf8" }).trim().split("\n").at(-1) ?? "";
  project.provide("client", join(folder, name));
  return () => rmSync(folder, { recursive: true });
}
