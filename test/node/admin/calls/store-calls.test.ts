import { describe, expect, it } from "vitest";
import { CoordinatorUnavailable } from "../../../../src/admin/calls/coordinator-calls.ts";
import { askBackups, askHistory } from "../../../../src/admin/calls/store-calls.ts";
import { StoreUnavailable } from "../../../../src/admin/calls/store-unavailable.ts";

describe("a call to a store", () => {
  it("is what the store answers", async () => {
    expect(await askHistory(Promise.resolve("rows"))).toBe("rows");
    expect(await askBackups(Promise.resolve(null))).toBeNull();
  });

  it("says which store failed, and keeps why", async () => {
    const cause = new Error("D1_ERROR");
    await expect(askHistory(Promise.reject(cause))).rejects.toMatchObject({
      name: "StoreUnavailable",
      store: "history",
      cause,
    });
    await expect(askBackups(Promise.reject(cause))).rejects.toMatchObject({ store: "backups" });
  });

  it("ends also where the store never answers", async () => {
    const hangs = new Promise<never>(() => {});
    const asked = askBackups(hangs, 5);
    await expect(asked).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(asked).rejects.toMatchObject({ cause: { name: "StoreTimeout" } });
  });

  it("leaves it to the coordinator to be away", async () => {
    const away = new CoordinatorUnavailable("away");
    await expect(askBackups(Promise.reject(away))).rejects.toBe(away);
  });
});
