import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { describeRoutes } from "../../../../scripts/openapi-document.ts";
import { route } from "../../../../src/admin/http/route.ts";
import { checkAnswer, OPENAPI } from "../../../builders/openapi-check.ts";

interface Operation {
  readonly operationId?: string;
  readonly security?: readonly object[];
}

/** Every operation of the document, whatever its method. */
const operations = Object.entries(OPENAPI.paths ?? {}).flatMap(([path, item]) =>
  Object.entries(item as { readonly [method: string]: Operation }) // plain OpenAPI
    .map(([method, operation]) => ({ path, method, operation })),
);

describe("the OpenAPI document", () => {
  it("is valid by the schema of OpenAPI 3.1", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate({ ...OPENAPI });
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    expect(validator.version).toBe("3.1");
  });

  it("requires a credential with a scope for the admin routes and for no others", () => {
    for (const { path, method, operation } of operations) {
      const scope = method === "get" ? "read" : "operate";
      const wanted = path.startsWith("/admin") ? [{ token: [scope] }, { access: [scope] }] : [];
      expect(operation.security).toEqual(wanted);
    }
  });

  it("states the range of a numeric parameter", () => {
    expect(OPENAPI.paths?.["/admin/ingest/runs"]?.get?.parameters).toContainEqual(
      expect.objectContaining({
        in: "query",
        name: "limit",
        schema: expect.objectContaining({ type: "integer", minimum: 1, maximum: 200 }),
      }),
    );
  });

  it("gives each operation a name of its own", () => {
    const named = operations.map(({ operation }) => operation.operationId);
    expect(named).not.toContain(undefined);
    expect(new Set(named).size).toBe(named.length);
    expect(named).toContain("postAdminIngestRunsByIdCancel");
    expect(named).toContain("deleteAdminBackupById");
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
  const document = describeRoutes([spec]);
  const check = (answer: Response) =>
    checkAnswer(document, { method: "GET", path: "/things/1?a=b" }, answer);

  function problem(code: string): Response {
    const fields = { type: "about:blank", title: "Bad Request", status: 400, detail: "no" };
    const body = { ...fields, code, request_id: "019aa3c0-0000-7000-8000-0000000000f0" };
    const headers = { "content-type": "application/problem+json" };
    return Response.json(body, { status: 400, headers });
  }

  it("accepts an answer as described", async () => {
    await expect(check(Response.json({ size: 1 }))).resolves.toBeUndefined();
    await expect(check(problem("invalid_query"))).resolves.toBeUndefined();
  });

  it.each([
    ["a field too many", Response.json({ size: 1, color: "red" })],
    ["another status", Response.json({ size: 1 }, { status: 201 })],
    ["another media type", new Response("size: 1", { headers: { "content-type": "text/yaml" } })],
    ["a problem in another shape", Response.json({ error: "no" }, { status: 404 })],
    ["a problem whose code is not named", problem("invalid_color")],
  ])("rejects %s", async (_, answer) => {
    await expect(check(answer)).rejects.toThrow("GET /things/1");
  });
});
