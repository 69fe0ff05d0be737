import { Buffer } from "node:buffer";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { sha256Hex } from "../../../src/catalog/hash.ts";
import { createBackupStore } from "../../../src/storage/backup-store.ts";
import { backupManifestKey, backupPartKey } from "../../../src/storage/keys.ts";
import { AdminWorld, type Json } from "../../builders/admin-world.ts";
import { READER_TOKEN } from "../../builders/admin-tokens.ts";
import { aJob } from "../../builders/job.ts";
import { cutOff } from "../../builders/source.ts";
import { aBackup, GOOD_VERDICT, storeGoodBackup } from "../../builders/stored-backup.ts";
import { admin, listKeys } from "./installation.ts";

/** An id that ascends with `number`. */
const anId = (number: number) => `019aa3c0-0000-7000-8000-${String(number).padStart(12, "0")}`;

/** A Content-Digest of the bytes "x". */
const DIGEST = `sha-256=:${Buffer.from(sha256Hex("x"), "hex").toString("base64")}:`;

/** Where the files of a backup are put, the manifest last. */
const uploads = [
  `/admin/backup/objects/${sha256Hex("x")}`,
  `/admin/backup/${anId(1)}/parts/state.000001.ndjson.gz`,
  `/admin/backup/${anId(1)}/manifest`,
] as const;

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
      ["GET", "/manifest"],
      ["PUT", "/manifest"],
      ["GET", "/parts/state.000001.ndjson.gz"],
      ["PUT", "/parts/state.000001.ndjson.gz"],
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
      for (const path of ["", "/restore", "/manifest", "/parts/state.000001.ndjson.gz"])
        for (const method of ["GET", "POST", "PUT", "DELETE"]) {
          const answer = await world.request(`/admin/backup/${id}${path}`, { method });
          expect(answer.status, `${method} ${path}`).toBe(404);
        }
      expect(world.backups.calls).toEqual([]);
      expect(world.removed).toEqual([]);
    },
  );

  it.each(["..%2fmanifest.json", "manifest.json", "d1.a%2fb.000001.ndjson.gz", "%00"])(
    "is that of a part as well: %s",
    async (name) => {
      const path = `/admin/backup/${anId(1)}/parts/${name}`;
      expect((await world.request(path)).status).toBe(400);
      expect((await world.request(path, { method: "PUT" })).status).toBe(400);
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
    expect(answer.headers.get("location")).toBe(`/admin/backup/${job.backupId}`);
    expect(await answer.json()).toMatchObject({
      disposition: "attached",
      job: { id: job.id },
      backup: { id: job.backupId, state: "running", trigger: "manual", finished_at: null },
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

  it("want to know how long an upload is", async () => {
    for (const path of uploads) {
      const headers = { "content-digest": DIGEST };
      const answer = await world.request(path, { method: "PUT", headers, body: "x" });
      expect(answer.status, path).toBe(411);
      expect(await answer.json()).toMatchObject({ code: "length_required" });
    }
    expect(world.backups.callsOf("put")).toEqual([]);
  });

  it("take no manifest that was cut off", async () => {
    const answer = await world.request(`/admin/backup/${anId(1)}/manifest`, {
      method: "PUT",
      headers: { "content-length": "100" },
      body: cutOff(),
      duplex: "half",
    } as RequestInit);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "body_incomplete" });
  });

  it("have no entry in the audit for a file that was stored, but for each that was refused", async () => {
    const [objectPath, partPath] = uploads;
    const put = (path: string, headers: Record<string, string>, body = "x") =>
      world.request(path, { method: "PUT", headers: { "content-length": "1", ...headers }, body });
    expect((await put(objectPath, {})).status).toBe(204);
    expect(world.audited).toEqual([]);
    expect((await put(objectPath, {}, "y")).status).toBe(400);
    expect((await put(partPath, {})).status).toBe(400);
    expect((await put(partPath, { authorization: `Bearer ${READER_TOKEN}` })).status).toBe(403);
    expect(world.audited).toMatchObject([
      { action: "backup.upload_object", target: sha256Hex("x"), code: "digest_mismatch" },
      { action: "backup.upload_part", target: anId(1), code: "digest_missing" },
      { action: "backup.upload_part", actor: "viewer", code: "scope_missing" },
    ]);
  });

  it("answer 409 while an ingest run or another job is in the way of a restore", async () => {
    const job = aJob();
    for (const refusal of [
      { ok: false, reason: "busy", job } as const,
      { ok: false, reason: "run_active", runId: anId(7) } as const,
    ]) {
      world.jobResult = refusal;
      const answer = await world.post(`/admin/backup/${anId(1)}/restore`);
      expect(answer.status).toBe(409);
      expect(await answer.json()).toMatchObject({ code: refusal.reason });
    }
    expect(world.audited).toMatchObject([{ outcome: "refused" }, { outcome: "refused" }]);
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
      ["PUT", `/admin/backup/${anId(1)}/manifest`],
      ["PUT", `/admin/backup/objects/${sha256Hex("x")}`],
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
      vi.spyOn(env.ARCHIVE, method).mockRejectedValue(new Error("R2 is away"));
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
    ["GET", `/admin/backup/${anId(1)}/manifest`],
    ["GET", uploads[0]],
    ["GET", uploads[1]],
    ["POST", `/admin/backup/${anId(1)}/pin`],
    ["POST", `/admin/backup/${anId(1)}/unpin`],
  ])("lets %s %s answer 503 and when to come back, and not 500 as for a bug", async (...asked) => {
    away("get", "head", "list", "put", "delete");
    expect(await ask(...asked)).toEqual(unavailable);
  });

  it.each(uploads.slice(0, 2))("lets PUT %s answer so too", async (path) => {
    away("get", "head", "list", "put", "delete");
    const bytes = new TextEncoder().encode("x");
    const sent = { bytes, headers: { "content-digest": DIGEST } };
    expect(await ask("PUT", path, sent)).toEqual(unavailable);
    const audit = await (await admin("GET", "/admin/audit?limit=1")).json();
    // Nobody knows whether it was stored, so that it is not called refused.
    expect(audit).toMatchObject({
      entries: [{ outcome: "failed", code: "backups_unavailable" }],
    });
  });

  it("keeps a backup from being pinned or unpinned by halves", async () => {
    const id = anId(3_000);
    await createBackupStore(env.ARCHIVE).writeManifest(id, aBackup(id).text);
    away("put", "delete");
    expect(await ask("POST", `/admin/backup/${id}/pin`)).toEqual(unavailable);
    expect(await ask("POST", `/admin/backup/${id}/unpin`)).toEqual(unavailable);
    vi.restoreAllMocks();
    expect(await (await admin("GET", `/admin/backup/${id}`)).json()).toMatchObject({
      pinned: false,
    });
    await env.ARCHIVE.delete(backupManifestKey(id));
  });
});

describe("deleting a backup", () => {
  const [plain, pinned, good, newest] = [1, 2, 3, 4].map(anId) as [string, string, string, string];

  it("answers 204, and 409 for a pinned one, the newest, and the newest that proved good", async () => {
    const store = createBackupStore(env.ARCHIVE);
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
    expect((await admin("DELETE", `/admin/backup/${plain}`)).status).toBe(404);
    for (const id of [plain, pinned, good, newest])
      expect((await listKeys(`backups/${id}/`)).length > 0, id).toBe(id !== plain);
    for (const id of [pinned, good, newest]) await store.deleteBackup(id);
  });

  it("begins with its manifest, so that what is left where R2 fails never looks whole", async () => {
    const store = createBackupStore(env.ARCHIVE);
    await store.writeManifest(plain, aBackup(plain).text);
    await env.ARCHIVE.put(backupPartKey(plain, "state.000001.ndjson.gz"), "rows");
    const remove = env.ARCHIVE.delete.bind(env.ARCHIVE);
    const spy = vi.spyOn(env.ARCHIVE, "delete").mockImplementation(async (keys) => {
      if (spy.mock.calls.length > 1) throw new Error("R2 is away");
      await remove(keys);
    });
    await expect(store.deleteBackup(plain)).rejects.toThrow("R2 is away");
    spy.mockRestore();
    expect(await store.readManifest(plain)).toBeNull();
    expect(await listKeys(`backups/${plain}/`)).toHaveLength(1);
    await store.deleteBackup(plain);
  });
});

describe("a list of backups", () => {
  beforeAll(async () => {
    const store = createBackupStore(env.ARCHIVE);
    for (let number = 1; number <= 1_010; number++)
      if (number % 500 !== 0) await store.writeManifest(anId(number), aBackup(anId(number)).text);
    await env.ARCHIVE.put(backupPartKey(anId(500), "state.000001.ndjson.gz"), "half");
    await env.ARCHIVE.put(backupManifestKey(anId(1_000)), '{"format":1,');
    await env.ARCHIVE.put("backups/../odd", "no backup");
  }, 60_000);

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
      { id: anId(1_000), state: "damaged", problem: expect.stringContaining("ends too early") },
      { id: anId(500), state: "incomplete", problem: "there is no manifest.json" },
    ]);
  }, 60_000);
});

describe("moving a backup in", { timeout: 60_000 }, () => {
  const id = anId(2_000);
  const { state, object, text } = aBackup(id);
  const objectPath = `/admin/backup/objects/${sha256Hex(object)}`;
  const partPath = `/admin/backup/${id}/parts/${state.part.name}`;
  const digest = (sha256: string) =>
    `sha-256=:${btoa(String.fromCharCode(...Uint8Array.from(sha256.match(/../g) ?? [], (hex) => Number.parseInt(hex, 16))))}:`;

  const put = (path: string, body: Uint8Array | string, headers: Record<string, string> = {}) => {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    return admin("PUT", path, { bytes, headers });
  };

  it("takes nothing whose hash is another, and no manifest before everything it names", async () => {
    const refused = await put(objectPath, "something else");
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ code: "digest_mismatch" });
    expect((await put(partPath, state.bytes)).status).toBe(400);
    const early = await put(`/admin/backup/${id}/manifest`, text);
    expect(early.status).toBe(409);
    expect(await early.json()).toMatchObject({ code: "backup_incomplete" });
    expect(await listKeys(`backups/${id}/`)).toEqual([]);
  });

  it("makes it exist with the manifest, pinned, and gives every byte back", async () => {
    expect((await put(objectPath, object)).status).toBe(204);
    const part = await put(partPath, state.bytes, {
      "content-digest": digest(state.part.sha256),
    });
    expect(part.status).toBe(204);
    const made = await put(`/admin/backup/${id}/manifest`, text);
    expect(made.status).toBe(201);
    expect((await put(`/admin/backup/${id}/manifest`, text)).status).toBe(204);
    const other = aBackup(id, { note: "another" }).text;
    expect((await put(`/admin/backup/${id}/manifest`, other)).status).toBe(409);
    const one = await (await admin("GET", `/admin/backup/${id}`)).json();
    expect(one).toMatchObject({ id, state: "complete", pinned: true, expires_at: null });
    for (const [path, bytes] of [
      [objectPath, object],
      [partPath, state.bytes],
      [`/admin/backup/${id}/manifest`, new TextEncoder().encode(text)],
    ] as const) {
      const answer = await admin("GET", path);
      expect(answer.status).toBe(200);
      expect(new Uint8Array(await answer.arrayBuffer())).toEqual(Uint8Array.from(bytes));
    }
  });

  it("refuses a manifest of the future, and one that is cut off", async () => {
    const future = anId(2_001);
    const { sha256: _, ...fields } = JSON.parse(aBackup(future).text);
    for (const [body, why] of [
      [JSON.stringify({ ...fields, format: 2 }), "future_format"],
      [text.slice(0, 100), "manifest_truncated"],
    ] as const) {
      const answer = await put(`/admin/backup/${future}/manifest`, body);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain(why);
    }
  });
});
