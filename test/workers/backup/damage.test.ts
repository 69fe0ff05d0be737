/** Damage to bodies in brotli, which Node cannot join. All other damage is in `test/node/backup`. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { manifestText, packPart, parseManifest, tableOf } from "../../../src/backup/format.ts";
import { stateLines } from "../../../src/backup/state-part.ts";
import { readState } from "../../../src/backup/read-backups.ts";
import { parseVerdict } from "../../../src/backup/verdict.ts";
import type { Manifest } from "../../../src/parts/manifest.ts";
import { createBackupStore } from "../../../src/storage/backup-store.ts";
import { RUN_TIMEOUT_MS, runToEnd } from "../ingest/coordinator-under-test.ts";
import { dropAirports, SMALL_AIRPORTS } from "../ingest/small-world.ts";
import { jobsOf } from "./installation.ts";

const store = createBackupStore(env.BACKUPS);

/** Makes a backup whose published version is what `edit` makes of it, under right hashes. */
async function aBackupWith(edit: (version: Manifest) => Manifest): Promise<string> {
  const [made] = await jobsOf("/admin/backup/run");
  const { backup_id: id = "" } = made ?? {};
  const parsed = parseManifest(await store.readManifest(id), id);
  if (!parsed.ok) throw new Error(parsed.fault.message);
  const { manifest } = parsed;
  const read = await readState(store, manifest);
  if (!read.ok) throw new Error(read.fault.message);
  const [newest, ...others] = read.state.versions;
  if (newest === undefined) throw new Error("nothing is published");
  const lines = stateLines({ ...read.state, versions: [edit(newest), ...others] });
  const { part, bytes } = packPart(null, 1, lines);
  await store.writePart(id, part.name, { bytes, sha256: part.sha256 });
  const parts = manifest.parts.map((each) => (tableOf(each) === null ? part : each));
  await store.writeManifest(id, manifestText({ ...manifest, parts }));
  return id;
}

async function verdictOn(id: string) {
  const [verification] = await jobsOf(`/admin/backup/${id}/verify`);
  const { state, message } = parseVerdict(await store.readNote(id, "verdict")) ?? {};
  return { code: verification?.error?.code, state, message };
}

it(
  "a backup whose bodies in brotli frames are those of another form fails by name, and one that is whole passes",
  { timeout: 2 * RUN_TIMEOUT_MS },
  async () => {
    await dropAirports(SMALL_AIRPORTS);
    await runToEnd({ source: "dropped" });
    const whole = await aBackupWith((version) => version);
    expect(await verdictOn(whole)).toMatchObject({ code: undefined, state: "verified" });
    for (const [form, other] of [
      ["proto", "json"],
      ["json", "proto"],
    ] as const) {
      const damaged = await aBackupWith((version) => {
        const { brInFrame } = version.shared[other];
        if (brInFrame === undefined) throw new Error("workerd joins brotli");
        const shared = { ...version.shared, [form]: { ...version.shared[form], brInFrame } };
        return { ...version, shared };
      });
      expect(await verdictOn(damaged), form).toEqual({
        code: "catalog_mismatch",
        state: "failed",
        message: "the blobs do not make up the catalog of manifest.json",
      });
    }
  },
);
