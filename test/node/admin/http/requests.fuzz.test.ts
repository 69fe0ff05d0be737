import fc from "fast-check";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { anyRequest, initOf } from "../../../builders/admin-requests.ts";
import { OPERATOR_TOKEN } from "../../../builders/admin-tokens.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { fuzzed, UNHURRIED } from "../../../builders/fuzzed.ts";

const world = new AdminWorld();

// Each request is logged, which nobody wants to read.
beforeEach(() => void vi.spyOn(console, "log").mockImplementation(() => undefined));

describe("the admin routes, given arbitrary requests", UNHURRIED, () => {
  it("answer an operator as the OpenAPI document describes, and never with 500", async () => {
    await fc.assert(
      fc.asyncProperty(anyRequest, async (request) => {
        const answer = await world.send(request.path + request.query, initOf(request));
        expect(answer.status).not.toBe(500);
      }),
      fuzzed(100),
    );
    expect(({} as { readonly force?: unknown }).force).toBeUndefined();
  });
});

/** What is no token of this installation, in whatever form. */
const credential = fc.oneof(
  fc.constantFrom("", "Bearer", "Bearer ", "Basic b3BzOm9wcw==", "bearer null"),
  fc.base64String({ maxLength: 4000 }).map((text) => `Bearer ${text}`),
  fc.constant(`Bearer ${OPERATOR_TOKEN}x`),
  fc.constant(`Bearer ${OPERATOR_TOKEN} ${OPERATOR_TOKEN}`),
);

describe("the admin routes, given arbitrary requests without a valid token,", UNHURRIED, () => {
  it("change nothing", async () => {
    const tables = ["jobs", "facts", "versions"];
    const state = () =>
      tables.map((table) => world.ingest.tables.sql.exec(`SELECT * FROM ${table}`).toArray());
    await fc.assert(
      fc.asyncProperty(anyRequest, credential, async (request, authorization) => {
        fc.pre(request.path.startsWith("/admin/") && request.method !== "OPTIONS");
        const [before, audited] = [state(), world.audited.length];
        const answer = await world.send(
          request.path + request.query,
          initOf(request, authorization),
        );
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.status).toBeLessThan(500);
        expect(state()).toEqual(before);
        expect(world.audited).toHaveLength(audited);
      }),
      fuzzed(100),
    );
  });
});
