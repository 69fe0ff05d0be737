import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { OPENAPI } from "../../../builders/openapi-check.ts";

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

  it("wants a credential for the admin routes and for no others, with the scope", () => {
    for (const { path, method, operation } of operations) {
      const scope = method === "get" ? "read" : "operate";
      const wanted = path.startsWith("/admin") ? [{ token: [scope] }, { access: [scope] }] : [];
      expect(operation.security).toEqual(wanted);
    }
  });

  it("says which numbers a parameter may be", () => {
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
