import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { describeRoutes } from "../../../src/admin/openapi.ts";
import { route } from "../../../src/admin/route.ts";
import { AdminWorld } from "../../builders/admin-world.ts";
import { checkAnswer } from "../../builders/openapi-check.ts";

const world = new AdminWorld();

describe("the OpenAPI document", () => {
  it("is valid by the schema of OpenAPI 3.1", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate({ ...(await world.document()) });
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    expect(validator.version).toBe("3.1");
  });

  it("describes every route of the service", async () => {
    const { paths } = await world.document();
    const own = [
      "/admin/alerts/run",
      "/admin/alerts/runs",
      "/admin/alerts/test",
      "/admin/audit",
      "/admin/catalog/rollback",
      "/admin/catalog/versions",
      "/admin/ingest/pause",
      "/admin/ingest/queue",
      "/admin/ingest/resume",
      "/admin/ingest/runs",
      "/admin/ingest/runs/{id}",
      "/admin/ingest/runs/{id}/cancel",
      "/admin/monitor/status",
      "/admin/openapi.json",
      "/catalog/diff",
      "/catalog/health",
      "/dashboard/summary",
    ];
    expect(Object.keys(paths ?? {})).toEqual(expect.arrayContaining(own));
  });

  it("wants a credential for the admin routes and for no others", async () => {
    const { paths } = await world.document();
    for (const [path, item] of Object.entries(paths ?? {})) {
      const operation = item.get ?? item.post;
      const wanted = path.startsWith("/admin") ? [{ token: [] }, { access: [] }] : undefined;
      expect(operation?.security).toEqual(wanted);
    }
  });

  it("says which fields a body may have, and that there are no others", async () => {
    const { paths } = await world.document();
    expect(paths?.["/admin/ingest/queue"]?.post?.requestBody).toMatchObject({
      required: false,
      content: {
        "application/json": {
          schema: {
            additionalProperties: false,
            properties: { mode: { enum: ["incremental", "full", "dry_run"] } },
          },
        },
      },
    });
  });

  it("says which numbers a parameter may be", async () => {
    const { paths } = await world.document();
    expect(paths?.["/admin/ingest/runs"]?.get?.parameters).toContainEqual(
      expect.objectContaining({
        in: "query",
        name: "limit",
        schema: expect.objectContaining({ type: "integer", minimum: 1, maximum: 200 }),
      }),
    );
  });

  it("gives each operation a name of its own", async () => {
    const { paths } = await world.document();
    const ids = Object.values(paths ?? {}).flatMap(({ get, post }) => [
      get?.operationId,
      post?.operationId,
    ]);
    const named = ids.filter((id) => id !== undefined);
    expect(new Set(named).size).toBe(named.length);
    expect(named).toContain("postAdminIngestRunsByIdCancel");
  });
});

describe("the check of answers against the document", () => {
  const spec = route({
    method: "get",
    path: "/things/:id",
    summary: "A thing",
    access: "public",
    responses: { 200: { description: "It", body: z.strictObject({ size: z.int() }) } },
  }).answer(async () => ({ status: 200, body: { size: 1 } }));
  const document = describeRoutes([spec], "test");
  const check = (answer: Response) =>
    checkAnswer(document, { method: "GET", path: "/things/1?a=b" }, answer);

  it("passes what is described", async () => {
    await expect(check(Response.json({ size: 1 }))).resolves.toBeUndefined();
  });

  it.each([
    ["a field too many", Response.json({ size: 1, color: "red" })],
    ["a field too few", Response.json({})],
    ["a value of another type", Response.json({ size: "1" })],
    ["another status", Response.json({ size: 1 }, { status: 201 })],
    ["another media type", new Response("size: 1", { headers: { "content-type": "text/yaml" } })],
    ["a problem in another shape", Response.json({ error: "no" }, { status: 404 })],
  ])("fails %s", async (_, answer) => {
    await expect(check(answer)).rejects.toThrow("GET /things/1");
  });
});
