import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createBackupStore } from "../../../src/storage/backup-store.ts";
import { backupManifestKey, backupPartKey } from "../../../src/storage/keys.ts";
import { AdminWorld, type Json } from "../../builders/admin-world.ts";
import { READER_TOKEN } from "../../builders/admin-tokens.ts";
import { aJob } from "../../builders/job.ts";
import { aBackup, GOOD_VERDICT, storeGoodBackup } from "../../builders/stored-backup.ts";
import { admin, listKeys } from "./installation.ts";

/** An id that ascends with `number`. */
const anId = (number: number) => `019aa3c0-0000-7000-8000-${String(number).padStart(12, "0")}`;

const BAD_IDS: readonly (readonly [name: string, id: string])[] = [
  ["a parent folder", "..%2f..%2fcatalog"],
  ["a parent folder, encoded", "%2e%2e%2f%2e%2e%2fcatalog"],
  ["a parent folder, encoded twice", "%252e%252e"],
  ["an absolute path", "%2fetc%2fpasswd"],
  ["a backslash", "..%5c"],
  ["NUL", `${anId(1)}%00`],
  ["1025 bytes", "a".repeat(1025)],
  ["capitals", anId(1).toUpperCase()],
  ["another UUID", "019aa3c0-0000-4000-8000-000000000001"],
  ["a space", `${anId(1)}%20`],
  ["broken UTF-8", "%ff"],
  ["__proto__", "__proto__"],
];

describe("an id that is none", () => {
  let world: AdminWorld;

  beforeEach(() => {
    world = new AdminWorld();
  });

  it.each(BAD_IDS)("(%s) is a 400 on every route, and reaches nothing", async (_, id) => {
    const calls: readonly (readonly [method: string, path: string])[] = [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/verify"],
      ["POST", "/restore"],
      ["POST", "/pin"],
      ["POST", "/unpin"],
    ];
    for (const [method, path] of calls) {
      const answer = await world.request(`/admin/backup/${id}${path}`, { method });
      expect(answer.status, `${method} ${path}`).toBe(400);
      expect(await answer.json()).toMatchObject({ code: "invalid_path" });
    }
    expect(world.backups.calls).toEqual([]);
    expect(world.removed).toEqual([]);
  });

  it.each(["..", "%2e%2e", ".%2E", "../../catalog"])(
    "(%s) that leads out of the backups is a path that there is not, and reaches nothing",
    async (id) => {
      for (const path of ["", "/restore"])
        for (const method of ["GET", "POST", "DELETE"]) {
          const answer = await world.request(`/admin/backup/${id}${path}`, { method });
          expect(answer.status, `${method} ${path}`).toBe(404);
        }
      expect(world.backups.calls).toEqual([]);
      expect(world.removed).toEqual([]);
    },
  );

  it("is one also for the cursor of the list", async () => {
    const answer = await world.request("/admin/backup/list?cursor=..%2f");
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "invalid_query" });
  });
});

describe("the routes of backups", () => {
  let world: AdminWorld;

  beforeEach(() => {
    world = new AdminWorld();
  });

  it("answer 202 with the backup's place, and say what happens", async () => {
    const job = aJob();
    world.jobResult = { ok: true, disposition: "attached", job };
    const answer = await world.post("/admin/backup/run", { note: "why", pin: true });
    expect(answer.status).toBe(202);
    expect(answer.headers.get("location")).toBe(`/admin/backup/${job.backup_id}`);
    expect(await answer.json()).toMatchObject({
      disposition: "attached",
      job: { id: job.id },
      backup: { id: job.backup_id, state: "running", trigger: "manual", finished_at: null },
    });
    expect(world.audited).toMatchObject([{ action: "backup.run", outcome: "done" }]);
  });

  it("say that a backup is begun also while R2 cannot show it", async () => {
    world.backups.before = () => {
      throw new Error("R2 is away");
    };
    const answer = await world.post("/admin/backup/run");
    expect(answer.status).toBe(202);
    expect(await answer.json()).toMatchObject({ disposition: "started", backup: null });
    expect(world.audited).toMatchObject([{ action: "backup.run", outcome: "done" }]);
  });

  it("pin a backup and unpin it, again without harm, and the audit shows by whom", async () => {
    storeGoodBackup(world.backups, anId(1));
    const call = async (verb: "pin" | "unpin") => {
      const answer = await world.post(`/admin/backup/${anId(1)}/${verb}`);
      expect(answer.status).toBe(200);
      return answer.json<Json>();
    };
    expect(await call("pin")).toMatchObject({ id: anId(1), pinned: true });
    expect(await call("pin")).toMatchObject({ pinned: true });
    const shown = await world.request(`/admin/backup/${anId(1)}`);
    expect(await shown.json()).toMatchObject({ pinned: true, expires_at: null });
    expect(await call("unpin")).toMatchObject({ pinned: false });
    expect(await (await world.request(`/admin/backup/${anId(1)}`)).json()).toMatchObject({
      pinned: false,
    });
    expect(world.audited).toMatchObject([
      { action: "backup.pin", actor: "ops", target: anId(1), before: { pinned: false } },
      { action: "backup.pin", before: { pinned: true }, after: { pinned: true } },
      { action: "backup.unpin", before: { pinned: true }, after: { pinned: false } },
    ]);
  });

  it("find nothing to pin where there is no backup", async () => {
    for (const verb of ["pin", "unpin"]) {
      const answer = await world.post(`/admin/backup/${anId(9)}/${verb}`);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: "backup_not_found" });
    }
    expect(world.backups.callsOf("put")).toEqual([]);
  });

  it("say that a restore which is repeated after a lost answer has changed nothing", async () => {
    const job = aJob({ kind: "restore", state: "succeeded", generation: 4, paused: true });
    world.jobResult = { ok: true, disposition: "unchanged", job };
    const answer = await world.post(`/admin/backup/${anId(1)}/restore`);
    expect(answer.status).toBe(202);
    expect(await answer.json()).toMatchObject({
      disposition: "unchanged",
      job: { id: job.id, generation: 4, paused: true },
      message: expect.stringContaining("nothing changed"),
    });
  });

  it("tell why a backup is not deleted while a job needs it", async () => {
    world.removal = { ok: false, reason: "in_use" };
    const answer = await world.request(`/admin/backup/${anId(1)}`, { method: "DELETE" });
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ code: "in_use" });
  });

  it("want the scope operate for everything that changes something", async () => {
    const authorization = `Bearer ${READER_TOKEN}`;
    for (const [method, path] of [
      ["POST", "/admin/backup/run"],
      ["DELETE", `/admin/backup/${anId(1)}`],
      ["POST", `/admin/backup/${anId(1)}/restore`],
    ] as const) {
      const answer = await world.request(path, { method, headers: { authorization } });
      expect(answer.status, path).toBe(403);
    }
  });

  it("answer 503 while the coordinator is away, and 404 for what is not there", async () => {
    expect((await world.request(`/admin/backup/${anId(1)}`)).status).toBe(404);
    expect((await world.request(`/admin/backup/jobs/${anId(1)}`)).status).toBe(404);
    world.isReachable = false;
    expect((await world.post("/admin/backup/run")).status).toBe(503);
  });
});

describe("R2 out of reach", () => {
  afterEach(() => void vi.restoreAllMocks());

  const away = (...methods: readonly ("get" | "head" | "list" | "put" | "delete")[]) => {
    for (const method of methods)
      vi.spyOn(env.BACKUPS, method).mockRejectedValue(new Error("R2 is away"));
  };
  const ask = async (...asked: Parameters<typeof admin>) => {
    const answer = await admin(...asked);
    const { code } = await answer.json<{ code: unknown }>();
    return { status: answer.status, retryAfter: answer.headers.get("retry-after"), code };
  };
  const unavailable = { status: 503, retryAfter: "10", code: "backups_unavailable" };

  it.each([
    ["GET", "/admin/backup/list"],
    ["GET", `/admin/backup/${anId(1)}`],
    ["POST", `/admin/backup/${anId(1)}/pin`],
    ["POST", `/admin/backup/${anId(1)}/unpin`],
  ])("lets %s %s answer 503 and when to come back, and not 500 as for a bug", async (...asked) => {
    away("get", "head", "list", "put", "delete");
    expect(await ask(...asked)).toEqual(unavailable);
  });

  it("keeps a backup from being pinned or unpinned by halves", async () => {
    const id = anId(3_000);
    await createBackupStore(env.BACKUPS).writeManifest(id, aBackup(id).text);
    away("put", "delete");
    expect(await ask("POST", `/admin/backup/${id}/pin`)).toEqual(unavailable);
    expect(await ask("POST", `/admin/backup/${id}/unpin`)).toEqual(unavailable);
    vi.restoreAllMocks();
    expect(await (await admin("GET", `/admin/backup/${id}`)).json()).toMatchObject({
      pinned: false,
    });
    await env.BACKUPS.delete(backupManifestKey(id));
  });
});

describe("deleting a backup", () => {
  const [plain, pinned, good, newest] = [1, 2, 3, 4].map(anId) as [string, string, string, string];

  it("answers 204, and 409 for a pinned one, the newest, and the newest that proved good", async () => {
    const store = createBackupStore(env.BACKUPS);
    for (const id of [plain, pinned, good, newest]) await store.writeManifest(id, aBackup(id).text);
    await store.writeNote(pinned, "pin", "{}");
    await store.writeNote(good, "verdict", GOOD_VERDICT);
    for (const [id, code] of [
      [pinned, "pinned"],
      [good, "newest_verified"],
      [newest, "newest"],
    ] as const) {
      const answer = await admin("DELETE", `/admin/backup/${id}`);
      expect(answer.status, code).toBe(409);
      expect(await answer.json()).toMatchObject({ code });
    }
    expect((await admin("DELETE", `/admin/backup/${plain}`)).status).toBe(204);
    const again = await admin("DELETE", `/admin/backup/${plain}`);
    expect(again.status).toBe(200);
    expect(await again.json()).toMatchObject({ changed: false });
    for (const id of [plain, pinned, good, newest])
      expect((await listKeys(env.BACKUPS, `backups/${id}/`)).length > 0, id).toBe(id !== plain);
    for (const id of [pinned, good, newest]) await store.deleteBackup(id);
  });

  it("begins with its manifest, so that what is left where R2 fails never looks whole", async () => {
    const store = createBackupStore(env.BACKUPS);
    await store.writeManifest(plain, aBackup(plain).text);
    await env.BACKUPS.put(backupPartKey(plain, "state.000001.ndjson.gz"), "rows");
    const remove = env.BACKUPS.delete.bind(env.BACKUPS);
    const spy = vi.spyOn(env.BACKUPS, "delete").mockImplementation(async (keys) => {
      if (spy.mock.calls.length > 1) throw new Error("R2 is away");
      await remove(keys);
    });
    await expect(store.deleteBackup(plain)).rejects.toThrow("R2 is away");
    spy.mockRestore();
    expect(await store.readManifest(plain)).toBeNull();
    expect(await listKeys(env.BACKUPS, `backups/${plain}/`)).toHaveLength(1);
    await store.deleteBackup(plain);
  });
});

describe("a list of backups", () => {
  beforeAll(async () => {
    const store = createBackupStore(env.BACKUPS);
    for (let number = 1; number <= 1_010; number++)
      if (number % 500 !== 0) await store.writeManifest(anId(number), aBackup(anId(number)).text);
    await env.BACKUPS.put(backupPartKey(anId(500), "state.000001.ndjson.gz"), "half");
    await env.BACKUPS.put(backupManifestKey(anId(1_000)), '{"format":1,');
    await env.BACKUPS.put("backups/../odd", "no backup");
  });

  it("has all of more than 1,000, page by page, and says what is wrong with which", async () => {
    const seen: Json[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? "" : `&cursor=${cursor}`;
      const answer = await admin("GET", `/admin/backup/list?limit=200${query}`);
      expect(answer.status).toBe(200);
      const page = await answer.json<{
        status: string;
        backups: Json[];
        next_cursor: string | null;
        total: number;
      }>();
      expect(page).toMatchObject({ status: "stale", total: 1_010 });
      seen.push(...page.backups);
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen.map(({ id }) => id)).toEqual(
      Array.from({ length: 1_010 }, (_, index) => anId(1_010 - index)),
    );
    const odd = seen.filter(({ state }) => state !== "complete");
    expect(odd).toMatchObject([
      { id: anId(1_000), state: "damaged", problem: expect.stringContaining("is truncated") },
      { id: anId(500), state: "incomplete", problem: "there is no manifest.json" },
    ]);
  });
});
