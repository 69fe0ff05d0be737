import { beforeEach, describe, expect, it } from "vitest";
import type { Version } from "../../../../src/ingest/versions.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { aManifest } from "../../../builders/manifest.ts";

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
  world.versions = [aVersion(7, true), aVersion(6), aVersion(5)];
});

function aVersion(generation: number, is_current = false): Version {
  const { published_at, catalog_sha256, counts } = aManifest();
  return {
    generation,
    published_at,
    catalog_sha256,
    counts,
    locales: ["en", "de"],
    is_current,
  };
}

const rollback = (body: unknown) => world.post("/admin/catalog/rollback", body);

describe("GET /admin/catalog/versions", () => {
  it("lists the versions that can be gone back to, the newest first", async () => {
    const answer = await world.request("/admin/catalog/versions");
    expect(answer.status).toBe(200);
    const { versions } = await answer.json<{ versions: readonly object[] }>();
    expect(versions).toMatchObject([{ generation: 7 }, { generation: 6 }, { generation: 5 }]);
    expect(versions[0]).toEqual({
      generation: 7,
      published_at: "2026-11-01T04:17:00.000Z",
      catalog_sha256: aManifest().catalog_sha256,
      counts: aManifest().counts,
      locales: ["en", "de"],
      is_current: true,
    });
  });

  it("is 503 while the coordinator is away", async () => {
    world.isReachable = false;
    expect((await world.request("/admin/catalog/versions")).status).toBe(503);
  });
});

describe("POST /admin/catalog/rollback", () => {
  it("publishes an earlier version again, under a new generation, and the audit shows both", async () => {
    const answer = await rollback({ generation: 5 });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      version: { generation: 8, is_current: true },
      message: expect.stringContaining("Generation 5 is published again, as 8."),
    });
    expect(world.audited).toMatchObject([
      {
        action: "catalog.rollback",
        target: "5",
        outcome: "done",
        before: { generation: 7 },
        after: { generation: 8 },
      },
    ]);
  });

  it("refuses a generation that is not retained", async () => {
    const answer = await rollback({ generation: 4 });
    expect(answer.status).toBe(404);
    const code = "generation_not_retained";
    expect(await answer.json()).toMatchObject({ code });
    expect(world.audited).toMatchObject([{ target: "4", outcome: "refused", code }]);
  });

  it("says that nothing has changed where that content is published already", async () => {
    const answer = await rollback({ generation: 7 });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      changed: false,
      version: { generation: 7 },
      message: expect.stringContaining("nothing changed"),
    });
    expect(world.audited).toMatchObject([{ before: { generation: 7 }, after: { generation: 7 } }]);
  });

  it.each([
    [{}, "generation"],
    [{ generation: "5" }, "generation"],
    [{ generation: 5.5 }, "generation"],
    [{ generation: 0 }, "generation"],
    [{ generation: 1e300 }, "generation"],
    [undefined, "generation: this field is missing"],
    [{}, "generation: this field is missing"],
    [{ generation: 5, force: true }, 'unknown field "force"'],
  ])("refuses %j", async (body, named) => {
    const answer = await rollback(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ detail: expect.stringContaining(named) });
    expect(world.versions).toHaveLength(3);
  });

  it("says that nobody knows what came of it while the coordinator is away", async () => {
    world.isReachable = false;
    expect((await rollback({ generation: 5 })).status).toBe(503);
    expect(world.audited).toMatchObject([{ outcome: "failed", code: "coordinator_unavailable" }]);
  });
});
