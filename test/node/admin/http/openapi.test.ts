import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { describeRoutes } from "../../../../src/admin/http/openapi.ts";
import { route } from "../../../../src/admin/http/route.ts";
import { checkAnswer, OPENAPI } from "../../../builders/openapi-check.ts";

interface Operation {
  readonly operationId?: string;
  readonly security?: readonly object[];
  readonly responses?: { readonly [status: string]: { readonly description?: string } };
}

/** Every operation of the document, whatever its method. */
async function operations() {
  const { paths } = OPENAPI;
  return Object.entries(paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as { readonly [method: string]: Operation }) // plain OpenAPI
      .map(([method, operation]) => ({ path, method, operation })),
  );
}

describe("the OpenAPI document", () => {
  it("is valid by the schema of OpenAPI 3.1", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate({ ...OPENAPI });
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    expect(validator.version).toBe("3.1");
  });

  it("describes every route of the service", async () => {
    const { paths } = OPENAPI;
    const own = [
      "/admin/alerts",
      "/admin/alerts/run",
      "/admin/alerts/runs",
      "/admin/alerts/runs/{id}",
      "/admin/alerts/test",
      "/admin/audit",
      "/admin/backup/jobs",
      "/admin/backup/jobs/{id}",
      "/admin/backup/list",
      "/admin/backup/run",
      "/admin/backup/{id}",
      "/admin/backup/{id}/pin",
      "/admin/backup/{id}/restore",
      "/admin/backup/{id}/unpin",
      "/admin/backup/{id}/verify",
      "/admin/catalog/rollback",
      "/admin/catalog/versions",
      "/admin/ingest/held",
      "/admin/ingest/held/approve",
      "/admin/ingest/held/reject",
      "/admin/ingest/held/{id}/approve",
      "/admin/ingest/held/{id}/reject",
      "/admin/ingest/pause",
      "/admin/ingest/queue",
      "/admin/ingest/resume",
      "/admin/ingest/runs",
      "/admin/ingest/runs/{id}",
      "/admin/ingest/runs/{id}/cancel",
      "/admin/monitor/status",
      "/admin/openapi.json",
      "/admin/whoami",
      "/catalog/diff",
      "/catalog/health",
      "/credits",
      "/dashboard/summary",
    ];
    expect(Object.keys(paths ?? {}).toSorted()).toEqual(own);
  });

  it("wants a credential for the admin routes and for no others, with the scope", async () => {
    for (const { path, method, operation } of await operations()) {
      const scope = method === "get" ? "read" : "operate";
      const wanted = path.startsWith("/admin") ? [{ token: [scope] }, { access: [scope] }] : [];
      expect(operation.security).toEqual(wanted);
    }
  });

  it("says where the service is, what each group is about, and which headers answers have", () => {
    const { paths, servers, tags } = OPENAPI;
    expect(servers).toMatchObject([{ url: "/" }]);
    const names = (tags ?? []).map(({ name }) => name);
    expect(paths?.["/admin/ingest/queue"]?.post?.tags).toEqual(["ingest"]);
    expect(paths?.["/catalog/diff"]?.get?.tags).toEqual(["catalog"]);
    expect(names).toEqual(expect.arrayContaining(["ingest", "catalog", "backup", "alerts"]));
    expect(paths?.["/admin/ingest/queue"]?.post?.responses).toMatchObject({
      202: { headers: { Location: {} } },
      401: { headers: { "WWW-Authenticate": {} } },
      405: { headers: { Allow: {} } },
      415: { headers: { Accept: {}, "Accept-Encoding": {} } },
      429: { headers: { "Retry-After": {} } },
    });
  });

  it("says which fields a body may have, and that there are no others", async () => {
    const { paths } = OPENAPI;
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
    const { paths } = OPENAPI;
    expect(paths?.["/admin/ingest/runs"]?.get?.parameters).toContainEqual(
      expect.objectContaining({
        in: "query",
        name: "limit",
        schema: expect.objectContaining({ type: "integer", minimum: 1, maximum: 200 }),
      }),
    );
  });

  it("gives each operation a name of its own", async () => {
    const named = (await operations()).map(({ operation }) => operation.operationId);
    expect(named).not.toContain(undefined);
    expect(new Set(named).size).toBe(named.length);
    expect(named).toContain("postAdminIngestRunsByIdCancel");
    expect(named).toContain("deleteAdminBackupById");
  });

  it("names the problems of a body where there is a body, and nowhere else", async () => {
    for (const { method, operation } of await operations()) {
      const { description = "" } = operation.responses?.["400"] ?? {};
      expect(description.includes("`invalid_body`")).toBe(method === "post");
      expect(description.includes("`malformed_json`")).toBe(method === "post");
    }
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

  function problem(code: string): Response {
    const fields = { type: "about:blank", title: "Bad Request", status: 400, detail: "no" };
    const body = { ...fields, code, request_id: "019aa3c0-0000-7000-8000-0000000000f0" };
    const headers = { "content-type": "application/problem+json" };
    return Response.json(body, { status: 400, headers });
  }

  it("passes what is described", async () => {
    await expect(check(Response.json({ size: 1 }))).resolves.toBeUndefined();
    await expect(check(problem("invalid_query"))).resolves.toBeUndefined();
  });

  it.each([
    ["a field too many", Response.json({ size: 1, color: "red" })],
    ["a field too few", Response.json({})],
    ["a value of another type", Response.json({ size: "1" })],
    ["another status", Response.json({ size: 1 }, { status: 201 })],
    ["another media type", new Response("size: 1", { headers: { "content-type": "text/yaml" } })],
    ["a problem in another shape", Response.json({ error: "no" }, { status: 404 })],
    ["a problem whose code is not named", problem("invalid_color")],
  ])("fails %s", async (_, answer) => {
    await expect(check(answer)).rejects.toThrow("GET /things/1");
  });
});
