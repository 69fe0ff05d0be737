/** A whole installation in workerd as the tests of backups see it, and ways to lose it. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import type { BackupJob } from "../../../src/schemas/backup-job.ts";
import { admin } from "../checked-fetch.ts";
import { coordinator, RUN_TIMEOUT_MS } from "../ingest/coordinator-under-test.ts";

/** Calls a route that queues jobs, and waits for their end. */
export async function jobsOf(path: string, body?: object): Promise<BackupJob[]> {
  const answer = await admin("POST", path, body);
  if (answer.status !== 202) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  const { job } = await answer.json<{ job: BackupJob }>();
  return Promise.all(job.chain.map(jobEnded));
}

function jobEnded(id: string): Promise<BackupJob> {
  const look = async () => {
    const job = await coordinator().findJob(id);
    if (job === null || job.finished_at === null)
      throw new Error(`not yet: ${JSON.stringify(job)}`);
    return job;
  };
  return vi.waitFor(look, { timeout: RUN_TIMEOUT_MS, interval: 25 });
}

/** Waits until nothing waits for D1. */
export async function historyIsWritten(): Promise<void> {
  const look = async () => {
    const { outboxLength, running } = await coordinator().status();
    if (outboxLength > 0 || running !== null) throw new Error("not yet");
  };
  await vi.waitFor(look, { timeout: RUN_TIMEOUT_MS });
}

type Rows = readonly Record<string, unknown>[];

/** Tables of a Durable Object's or the database's own. */
const isOwn = (name: string) => !/^(sqlite_|_cf_|__|d1_)/.test(name);

/** Rows of every table of D1 but the audit. */
export async function databaseTables(): Promise<{ readonly [table: string]: Rows }> {
  const tables: { [table: string]: Rows } = {};
  for (const name of await databaseTableNames())
    tables[name] = (await env.HISTORY.prepare(`SELECT * FROM "${name}" ORDER BY 1`).all()).results;
  return tables;
}

async function databaseTableNames(): Promise<string[]> {
  const { results } = await env.HISTORY.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table'",
  ).all<{ name: string }>();
  return results.map(({ name }) => name).filter(isOwn);
}

/** Loses everything but the bucket of the backups. */
export async function wipeAllButBackups(): Promise<void> {
  const stub = coordinator();
  await runInDurableObject(stub, async (_, { storage }) => {
    await storage.deleteAlarm();
    await storage.deleteAll();
  });
  await evictDurableObject(stub);
  const { keys } = await env.CATALOG.list();
  await Promise.all(keys.map(({ name }) => env.CATALOG.delete(name)));
  await env.ARCHIVE.delete(await listKeys(env.ARCHIVE, ""));
  for (const name of await databaseTableNames()) await env.HISTORY.exec(`DROP TABLE "${name}"`);
}

/** Keys of a bucket that start so. */
export async function listKeys(bucket: R2Bucket, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const page: R2Objects = await bucket.list({ prefix, ...(cursor && { cursor }) });
    keys.push(...page.objects.map(({ key }) => key));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
  return keys;
}
