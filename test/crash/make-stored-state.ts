/**
 * Makes the state that `upgrade.test.ts` starts over, with the code of this checkout:
 *
 *     node test/crash/make-stored-state.ts
 *
 * Run it at the commit that a release was made of, before the first change to what is stored.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { hasEnded, KilledService } from "./killed-service.ts";
import { type Made, STATE_ARCHIVE, STATE_FACTS } from "./stored-state.ts";

/** What the stores hold is small. */
const VARS = { LOCALES: "en", AIRPORTS: "scheduled" };

interface JobAnswer {
  readonly id: string;
  readonly state: string;
  readonly backup_id: string;
  readonly chain: readonly string[];
}

const service = await KilledService.build();
try {
  await service.restart({}, VARS);
  for (const generation of [1, 2]) {
    const run = await service.runWhen(await service.publish(), hasEnded);
    if (run.generation_after !== generation) throw new Error(JSON.stringify(run));
  }
  const { job } = await service.admin<{ job: JobAnswer }>("POST", "/admin/backup/run", {});
  for (const id of job.chain) {
    const { state } = await service.jobWhen<JobAnswer>(id, hasEnded);
    if (state !== "succeeded") throw new Error(`job ${id} has ${state}`);
  }
  await service.admin("POST", "/admin/alerts/run");
  await service.admin("POST", "/admin/ingest/pause", { note: "kept over the upgrade" });
  const rows = async () => (await service.state()).truth;
  for (let truth = await rows(); truth.outbox + truth.auditOutbox > 0;) truth = await rows();
  const generation = await service.ask();
  await service.service.kill();
  const made: Made = {
    commit: output("git", "rev-parse", "HEAD"),
    generation,
    backup: job.backup_id,
  };
  writeFileSync(STATE_FACTS, JSON.stringify(made));
  output("node_modules/.bin/prettier", "--write", STATE_FACTS);
  const archive = join(service.folder, "state.tar");
  output("tar", "-cf", archive, "-C", service.folder, "state");
  // KV, R2 and the backups have the same blobs, far from each other.
  const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
  writeFileSync(STATE_ARCHIVE, brotliCompressSync(readFileSync(archive), { params }));
} finally {
  rmSync(service.folder, { recursive: true, force: true });
}

function output(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
  return stdout.trim();
}
