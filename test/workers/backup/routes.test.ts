import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createBackupStore } from "../../../src/storage/backup-store.ts";
import { backupManifestKey, backupPartKey } from "../../../src/storage/keys.ts";
import { anId } from "../../builders/an-id.ts";
import { aBackup } from "../../builders/stored-backup.ts";
import { admin } from "../checked-fetch.ts";
import { listSmallPages } from "../small-pages.ts";
import { listKeys } from "./installation.ts";

afterEach(() => void vi.restoreAllMocks());

describe("the backup routes while R2 is out of reach", () => {
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
    ["POST", `/admin/backup/${anId(1)}/pin`],
    ["POST", `/admin/backup/${anId(1)}/restore`],
    ["DELETE", `/admin/backup/${anId(1)}`],
  ])("answer %s %s with 503 and Retry-After, not with 500 as for a bug", async (...asked) => {
    away("get", "head", "list", "put", "delete");
    expect(await ask(...asked)).toEqual(unavailable);
  });

  it("pin or unpin a backup either completely or not at all", async () => {
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
  const plain = anId(1);

  it("starts with its manifest, so that an interrupted deletion never leaves a backup that looks whole", async () => {
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
  interface Listed {
    readonly id: string;
    readonly state: string;
  }

  beforeAll(async () => {
    const store = createBackupStore(env.BACKUPS);
    for (let number = 1; number <= 30; number++)
      if (number !== 10 && number !== 20)
        await store.writeManifest(anId(number), aBackup(anId(number)).text);
    await env.BACKUPS.put(backupPartKey(anId(10), "state.000001.ndjson.gz"), "half");
    await env.BACKUPS.put(backupManifestKey(anId(20)), '{"format":1,');
    await env.BACKUPS.put("backups/../odd", "no backup");
  });

  it("has more entries than R2 lists in one page, and describes the problem of each damaged one", async () => {
    listSmallPages(env.BACKUPS, 7);
    const seen: Listed[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? "" : `&cursor=${cursor}`;
      const answer = await admin("GET", `/admin/backup/list?limit=8${query}`);
      expect(answer.status).toBe(200);
      const page = await answer.json<{
        backups: Listed[];
        next_cursor: string | null;
        total: number;
      }>();
      expect(page).toMatchObject({ total: 30 });
      seen.push(...page.backups);
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen.map(({ id }) => id)).toEqual(
      Array.from({ length: 30 }, (_, index) => anId(30 - index)),
    );
    const odd = seen.filter(({ state }) => state !== "complete");
    expect(odd).toMatchObject([
      { id: anId(20), state: "damaged", problem: expect.stringContaining("is truncated") },
      { id: anId(10), state: "incomplete", problem: "there is no manifest.json" },
    ]);
  });
});
