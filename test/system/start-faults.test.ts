/** `npm start` on what an earlier one has stored, where not everything is as it should be. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  SERVED_AIRPORTS,
  type SmallUpstream,
  startSmallUpstream,
} from "../builders/small-upstream.ts";
import { callCatalog } from "../../scripts/service-call.ts";
import { SERVING, Start, TOKEN_FILE } from "./npm-start.ts";
import { freePort } from "./running-service.ts";

const temporary = mkdtempSync(join(tmpdir(), "locations-start-"));
const state = join(temporary, "state");
/** What the first start has stored, from which each test starts. */
const published = join(temporary, "published");
let small: SmallUpstream;

beforeAll(async () => {
  small = await startSmallUpstream();
  const { start } = await serve();
  await start.interrupt();
  cpSync(state, published, { recursive: true });
});
beforeEach(() => {
  rmSync(state, { recursive: true });
  cpSync(published, state, { recursive: true });
});
afterEach(() => Start.stopAll());
afterAll(async () => {
  await small.stop();
  rmSync(temporary, { recursive: true, force: true });
});

interface Running {
  readonly url: string;
  readonly start: Start;
}

/** Starts the service; `vars` are settings that differ from those of the small upstream. */
async function run(vars: object = {}, ...args: readonly string[]): Promise<Running> {
  return runIn({}, vars, ...args);
}

/** The same, with these variables of the environment. */
async function runIn(env: object, vars: object, ...args: readonly string[]): Promise<Running> {
  const port = await freePort();
  const settings = Object.entries({ ...small.vars, ...vars });
  const options = [
    `--port=${port}`,
    "--locales=en",
    `--state=${state}`,
    ...settings.map(([name, value]) => `--var=${name}=${value}`),
    ...args,
  ];
  const start = new Start(options, { env });
  return { start, url: `http://127.0.0.1:${port}` };
}

/** Starts, and waits until the small catalog is served. */
async function serve(): Promise<Running> {
  const running = await run();
  await running.start.says(SERVING);
  return running;
}

function authorization(): { readonly authorization: string } {
  return { authorization: `Bearer ${readFileSync(TOKEN_FILE, "utf8").trim()}` };
}

async function post(url: string, path: string, body: object = {}): Promise<Response> {
  const init = {
    method: "POST",
    headers: { ...authorization(), "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  return fetch(url + path, init);
}

/** A backup job. */
async function job(url: string, id: string): Promise<{ readonly state: string }> {
  const answer = await fetch(`${url}/admin/backup-jobs/${id}`, { headers: authorization() });
  return answer.json();
}

/** Makes a backup, and waits for it; its id. */
async function makeBackup(url: string): Promise<string> {
  const answer = await post(url, "/admin/backup/run");
  const made = await answer.json<{ job: { id: string; backup_id: string } }>();
  while (!["succeeded", "failed"].includes((await job(url, made.job.id)).state)) await sleep(100);
  return made.job.backup_id;
}

/** The files that are stored below a folder of the state. */
function stored(folder: string, ending: string): string[] {
  const root = join(state, "v3", folder);
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(root, name));
}

describe("npm start with a catalog from an earlier start", () => {
  it("serves it while ingestion is paused and the queue is full, and says how to resume", async () => {
    const first = await serve();
    expect((await post(first.url, "/admin/ingest/pause")).status).toBe(200);
    let status = 0;
    for (const mode of ["incremental", "full", "dry_run"])
      for (const source of ["embedded", "ourairports", "dropped"])
        for (const force of [false, true])
          ({ status } = await post(first.url, "/admin/ingest/queue", { mode, source, force }));
    expect(status).toBe(429);
    expect(await first.start.interrupt()).toBe(0);

    const { start, url } = await run();
    await start.says(SERVING);
    expect(start.stdout).toContain("Ingestion is paused");
    expect(start.stdout).toContain(`--json '{}' ${url}/admin/ingest/resume`);
    expect(start.stdout).toContain(`Serving ${SERVED_AIRPORTS} airports`);
    expect(await start.interrupt()).toBe(0);
  });

  it("serves it when the ingest fails, and says why and how to try again", async () => {
    const { start, url } = await run({ SOURCE: "dropped" });
    await start.says(SERVING);
    expect(start.stdout).toContain("The ingest failed in stage fetch");
    expect(start.stdout).toContain(`--json '{}' ${url}/admin/ingest/queue`);
    expect(start.stdout).toContain(`Serving ${SERVED_AIRPORTS} airports`);
    expect(await start.interrupt()).toBe(0);
  });

  it("serves it whatever environment the shell has chosen for wrangler", async () => {
    const buckets = readdirSync(join(state, "v3", "r2"));
    const { start } = await runIn({ CLOUDFLARE_ENV: "staging" }, { SOURCE: "dropped" });
    await start.says(SERVING);
    expect(start.stdout).toContain(`Serving ${SERVED_AIRPORTS} airports`);
    expect(readdirSync(join(state, "v3", "r2"))).toEqual(buckets);
    expect(await start.interrupt()).toBe(0);
  });

  it("serves it when the guards refuse the change, and says how to publish the change", async () => {
    const { start, url } = await run({ AIRPORTS: "scheduled" });
    await start.says(SERVING);
    expect(start.stdout).toContain("The ingest failed in stage guard");
    await start.says("failed after");
    expect(start.stdout).toMatch(
      /^\d\d:\d\d:\d\d ingest \S+ failed after \S+ s in stage guard: .+ \(guard_\w+\)$/m,
    );
    const [, body] = /--json '(.+)' \S+\/admin\/ingest\/queue/.exec(start.stdout) ?? [];
    const queued = await post(url, "/admin/ingest/queue", JSON.parse(body ?? "{}"));
    const { run: approved } = await queued.json<{ run: { id: string } }>();
    const look = async () => {
      const answer = await fetch(`${url}/admin/ingest/runs/${approved.id}`, {
        headers: authorization(),
      });
      return answer.json<{ finished_at: string | null; outcome: string | null }>();
    };
    while ((await look()).finished_at === null) await sleep(100);
    expect(await look()).toMatchObject({ outcome: "published" });
    expect(await start.interrupt()).toBe(0);
  });

  it("serves it after a restore that was cut off, which ends by itself", async () => {
    const first = await serve();
    const backup = await makeBackup(first.url);
    const restore = await post(first.url, `/admin/backup/${backup}/restore`);
    expect(restore.status).toBe(202);
    const restoring = await restore.json<{ job: { id: string } }>();
    first.start.kill();
    const { start, url } = await run();
    await start.says(SERVING);
    expect(start.stdout).toContain(`Serving ${SERVED_AIRPORTS} airports`);
    await expect.poll(() => job(url, restoring.job.id)).toMatchObject({ state: "succeeded" });
    expect(await start.interrupt()).toBe(0);
  });
});

describe("npm start without a usable catalog", () => {
  it("ends with the reason if nothing is published and the ingest fails", async () => {
    const { start } = await run({ SOURCE: "dropped" }, "--fresh");
    expect(await start.ends()).toBe(1);
    expect(start.stderr).toContain("The ingest failed in stage fetch");
    expect(start.stderr).toContain("Nothing can be served");
    expect(start.stderr).not.toContain("200 OK");
    expect(start.stdout).not.toContain("Serving");
  });

  it("stays for the restore of a backup when the stores have lost the catalog and upstream is away", async () => {
    const first = await serve();
    const backup = await makeBackup(first.url);
    expect(await first.start.interrupt()).toBe(0);
    rmSync(join(state, "v3", "kv"), { recursive: true });
    for (const file of stored("r2", ".sqlite").filter(
      (name) => !name.endsWith("metadata.sqlite"),
    )) {
      const bucket = new DatabaseSync(file);
      bucket.exec("DELETE FROM _mf_objects WHERE key LIKE 'catalog/%'");
      bucket.close();
    }
    const { start, url } = await run({ SOURCE: "dropped" });
    await start.says(SERVING);
    expect(start.stdout).toContain("The ingest failed in stage fetch");
    expect(start.stdout).toContain("restore the newest backup");
    expect((await post(url, `/admin/backup/${backup}/restore`)).status).toBe(202);
    while (!(await callCatalog(url)).ok) await sleep(200);
    expect(await start.interrupt()).toBe(0);
  });

  it("does not claim to serve a catalog of which every copy is damaged", async () => {
    // Manifests are JSON; the compressed and the binary bodies are not.
    const blobs = ["kv", "r2"].flatMap((folder) => stored(folder, ""));
    for (const blob of blobs.filter((name) => name.includes("/blobs/"))) {
      const bytes = readFileSync(blob);
      if (bytes[0] !== "{".charCodeAt(0)) writeFileSync(blob, bytes.fill(0));
    }
    const { start } = await run();
    await start.says(SERVING);
    expect(start.stdout).not.toContain("Serving");
    expect(start.stdout).toContain("Every call to");
    expect(start.stdout).toContain(`npm start -- --fresh --state ${state}`);
    expect(await start.interrupt()).toBe(0);
  });
});

describe("npm start over unusable storage", () => {
  it("serves, and has a history, when no migration is recorded", async () => {
    for (const file of stored("d1", ".sqlite")) {
      const database = new DatabaseSync(file);
      const tables = database.prepare("SELECT name FROM sqlite_master").all();
      if (tables.some(({ name }) => name === "d1_migrations"))
        database.exec("DELETE FROM d1_migrations");
      database.close();
    }
    const { start, url } = await run();
    await start.says(SERVING);
    expect(start.stdout).toContain(`Serving ${SERVED_AIRPORTS} airports`);
    const countRuns = async () => {
      const answer = await fetch(`${url}/admin/ingest/runs`, { headers: authorization() });
      const { runs }: { readonly runs: readonly unknown[] } = await answer.json();
      return runs.length;
    };
    while ((await countRuns()) < 2) await sleep(200);
    expect(await start.interrupt()).toBe(0);
  });

  it("says at once which version the coordinator's tables have, and what to do, and serves what is there", async () => {
    for (const file of stored("do", ".sqlite")) {
      const database = new DatabaseSync(file);
      const tables = database
        .prepare("SELECT name FROM sqlite_master")
        .all()
        .map(({ name }) => name);
      if (tables.includes("schema_version") && tables.includes("jobs"))
        database.exec("UPDATE schema_version SET version = 99");
      database.close();
    }
    const { start } = await run();
    await start.says(SERVING);
    expect(start.stdout).toContain("The tables of the coordinator have version 99");
    expect(start.stdout).toContain("Deploy the newer Worker again.");
    expect(start.stdout).toContain(`Serving ${SERVED_AIRPORTS} airports`);
    expect(await start.interrupt()).toBe(0);
  });

  it("says what to do when the database is damaged, which keeps the catalog", async () => {
    for (const file of stored("d1", ".sqlite")) writeFileSync(file, "not a database".repeat(1_000));
    // SQLite would read what it has not moved into the database yet.
    for (const file of stored("d1", "-wal")) rmSync(file);
    const refused = await run();
    expect(await refused.start.ends()).toBe(1);
    const { stderr } = refused.start;
    expect(stderr).toContain(`or what is stored in ${state} is damaged`);
    expect(stderr).toContain("file is not a database");
    const advice = [
      join(state, "worker.log"),
      "npm start -- --state FOLDER",
      `rm -r ${join(state, "v3", "d1")}`,
      `npm start -- --fresh --state ${state}`,
    ].map((text) => stderr.indexOf(text));
    // What deletes more comes later.
    expect(advice).toEqual(advice.filter((at) => at >= 0).toSorted((a, b) => a - b));
    expect(stderr.trim().split("\n")).toHaveLength(6);
    expect(readFileSync(join(state, "worker.log"), "utf8")).toContain("SQLITE_NOTADB");
    rmSync(join(state, "v3", "d1"), { recursive: true });
    const { start } = await run();
    await start.says(SERVING);
    expect(start.stdout).toContain(`Serving ${SERVED_AIRPORTS} airports`);
    expect(await start.interrupt()).toBe(0);
  });

  it("says what to do when the folder is not writable", async () => {
    const start = new Start([`--port=${await freePort()}`, `--state=${TOKEN_FILE}/state`]);
    expect(await start.ends()).toBe(1);
    expect(start.stderr).toContain(`${TOKEN_FILE}/state cannot be written to`);
    expect(start.stderr).toContain("npm start -- --state FOLDER");
    expect(start.stderr).not.toContain("    at ");
  });
});
