import { beforeEach, describe, expect, it } from "vitest";
import { AdminWorld, type Json } from "../../../builders/admin-world.ts";
import { BackupWorld } from "../../../builders/backup-world.ts";
import { startEachFrom } from "../../../builders/coordinator-world.ts";
import { ROUTE_PATHS } from "../../../builders/openapi-check.ts";

interface Operation {
  readonly parameters?: readonly { readonly name: string }[];
}

/** The paths of all routes that take a key, by the document. */
const PATHS = Object.entries(ROUTE_PATHS)
  .filter(([, item]) => {
    const { post }: { readonly post?: Operation } = item as object; // plain OpenAPI
    return post?.parameters?.some(({ name }) => name === "Idempotency-Key");
  })
  .map(([path]) => path);

const installation = new BackupWorld(undefined, ["en"]);
let world: AdminWorld;
let backupId: string;

startEachFrom(installation, async () => {
  await new AdminWorld(installation).ingest.runToEnd();
  ({ backup_id: backupId } = await installation.backUp());
});

beforeEach(() => {
  world = new AdminWorld(installation);
});

async function send(path: string, body: object, key: string) {
  const answer = await world.post(path.replace("{id}", backupId), body, { "idempotency-key": key });
  return { status: answer.status, ...(await answer.json<Json>()) };
}

/** Everything that requests have started. */
const started = () => ({ runs: world.ingest.state.runs(), jobs: world.ingest.coordinator.jobs() });

const REUSED = { status: 422, code: "idempotency_key_reused" };

it("the table has every route that starts work", () => {
  expect(PATHS.toSorted()).toEqual([
    "/admin/backup/run",
    "/admin/backup/{id}/restore",
    "/admin/backup/{id}/verify",
    "/admin/ingest/queue",
    "/admin/ingest/resume",
  ]);
});

describe.each(PATHS)("an Idempotency-Key of %s", (path) => {
  it("is refused with another body or at another route, and starts nothing", async () => {
    const first = await send(path, {}, "a");
    expect(first.status).toBeLessThan(300);
    const before = started();
    expect(await send(path, { note: "another" }, "a")).toMatchObject(REUSED);
    for (const other of PATHS.filter((name) => name !== path))
      expect(await send(other, {}, "a")).toMatchObject(REUSED);
    expect(started()).toEqual(before);
    await world.ingest.drain();
    world.ingest.crash();
    expect(await send(path, { note: "another" }, "a")).toMatchObject(REUSED);
    expect(world.audited.at(-1)).toMatchObject({ outcome: "refused", code: REUSED.code });
  });

  it("repeats the same request, however its body is written", async () => {
    const first = await send(path, { note: "why" }, "a");
    const again = await world.post(path.replace("{id}", backupId), ' { "note" : "why" } ', {
      "idempotency-key": "a",
    });
    expect([again.status, await again.json()]).toMatchObject([200, { changed: false }]);
    expect(first.status).toBeLessThan(300);
  });

  it("is one key for each operator, and another key is another request", async () => {
    await send(path, {}, "a");
    expect((await send(path, { note: "another" }, "b")).status).toBeLessThan(300);
    const { credentials } = world.credentials;
    const tokens = credentials.tokens.map((token) => ({ ...token, id: `${token.id}-2` }));
    world.credentials = { problem: null, credentials: { ...credentials, tokens } };
    expect((await send(path, { note: "another" }, "a")).status).toBeLessThan(300);
  });
});

it("a key is free again after 300 others", () => {
  for (const key of Array.from({ length: 301 }, (_, index) => `key-${index}`))
    expect(world.ingest.coordinator.claimKey(key, "x")).toBe(true);
  expect(world.ingest.coordinator.claimKey("key-1", "y")).toBe(false);
  expect(world.ingest.coordinator.claimKey("key-0", "y")).toBe(true);
});
