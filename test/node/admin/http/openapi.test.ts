import { readFileSync } from "node:fs";
import { Validator as JsonSchema } from "@cfworker/json-schema";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { describeRoutes, openApiDocument } from "../../../../web/build/openapi-document.ts";
import { sampleOf } from "../../../../web/build/openapi-html.ts";
import { route } from "../../../../src/admin/http/route.ts";
import { anId } from "../../../builders/an-id.ts";
import { checkAnswer, closed, OPENAPI } from "../../../builders/openapi-check.ts";

interface Operation {
  readonly operationId?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly object[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: {
    readonly [status: string]: { readonly description: string; readonly content?: Content };
  };
}

interface Content {
  readonly [mediaType: string]: { readonly schema?: object };
}

/** Every operation of the document, whatever its method. */
const operations = Object.entries(OPENAPI.paths ?? {}).flatMap(([path, item]) =>
  Object.entries(item as { readonly [method: string]: Operation }) // plain OpenAPI
    .map(([method, operation]) => ({ path, method, operation })),
);

describe("the OpenAPI document", () => {
  it("conforms to the schema of OpenAPI 3.1", async () => {
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

  it("describes each operation, under a tag that is described", () => {
    const tags = OPENAPI.tags?.map(({ name }) => name);
    for (const { operation } of operations) {
      expect(operation.description, operation.operationId).toMatch(/\.$/);
      expect(operation.tags).toHaveLength(1);
      expect(tags).toEqual(expect.arrayContaining([...(operation.tags ?? [])]));
    }
  });

  it("has schemas that accept the samples which readers see", () => {
    const { components = {} } = OPENAPI;
    for (const { operation } of operations)
      for (const { content = {} } of [
        operation.requestBody ?? {},
        ...Object.values(operation.responses),
      ])
        for (const { schema = {} } of Object.values(content)) {
          const value = sampleOf(schema, components as Parameters<typeof sampleOf>[1]);
          const validator = new JsonSchema({ ...schema, components }, "2020-12");
          const { valid, errors } = validator.validate(value);
          expect({ of: operation.operationId, valid, errors }).toMatchObject({ valid: true });
        }
  });

  it("describes each shared schema", () => {
    for (const [name, schema] of Object.entries(OPENAPI.components?.schemas ?? {}))
      expect(Object(schema)["description"], name).toMatch(/\.$/);
  });

  it("lets answers gain fields, and restricts requests to the fields that it names", () => {
    const { paths, components } = openApiDocument(
      readFileSync("proto/locations/v1/locations.proto", "utf8"),
    );
    const rollBack = paths?.["/admin/catalog/rollback"]?.post;
    const answers = JSON.stringify([components, rollBack?.responses]);
    expect(answers).not.toContain('"additionalProperties":false');
    const queueRun = paths?.["/admin/ingest/queue"]?.post;
    expect(queueRun?.requestBody).toMatchObject({
      content: { "application/json": { schema: { additionalProperties: false } } },
    });
  });

  it.each(["approve", "reject"])("says which fields are needed to %s many changes", (verb) => {
    const body = OPENAPI.paths?.[`/admin/ingest/held/${verb}`]?.post?.requestBody;
    const schema = Object(body).content["application/json"].schema;
    const validator = new JsonSchema(schema, "2020-12");
    const isValid = (sent: object) => validator.validate(sent).valid;
    expect(isValid({})).toBe(false);
    expect(isValid({ note: "all" })).toBe(false);
    expect(isValid({ rule: "leaves" })).toBe(true);
    expect(isValid({ run_id: anId(1), note: "all" })).toBe(true);
  });
});

describe("the check of answers against the document", () => {
  const spec = route({
    method: "get",
    path: "/things/:id",
    operationId: "getThing",
    summary: "A thing",
    description: "It has a size.",
    access: "public",
    responses: { 200: { description: "It", body: z.strictObject({ size: z.int() }) } },
  }).answer(async () => ({ status: 200, body: { size: 1 } }));
  const document = closed(describeRoutes([spec]));
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
