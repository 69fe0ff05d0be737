import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { INGEST_INSTANCE } from "../../../../src/instances.ts";
import { admin } from "../../checked-fetch.ts";

const stub = () => env.COORDINATOR.getByName(INGEST_INSTANCE);

describe("x", () => {
  it("y", async () => {
    expect((await admin("POST", "/admin/ingest/pause")).status).toBe(200);
    await runInDurableObject(stub(), (_, { storage }) => {
      console.log(JSON.stringify(storage.sql.exec("SELECT * FROM facts").toArray()), JSON.stringify(storage.sql.exec("SELECT name FROM sqlite_master").toArray()));
      storage.sql.exec("INSERT INTO schema_version (version) VALUES (99)");
    });
    await evictDurableObject(stub());
    for (let i=0;i<3;i++)
    await stub().status().catch((e) => console.log("ERR", e.name, e.message, JSON.stringify(e), e.stack?.slice(0,300)));
    const a = await admin("GET", "/admin/monitor/status");
    console.log(a.status, await a.text());
    const b = await admin("POST", "/admin/ingest/pause");
    console.log(b.status, await b.text());
  });
});
