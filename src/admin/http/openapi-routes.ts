import { z } from "zod";
import { describeRoutes } from "./openapi.ts";
import { type Route, route } from "./route.ts";

interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly [key: string]: unknown;
}

/** `GET /admin/openapi.json`: the document of the routes that it is given, and of itself. */
export function openApiRoutes(others: readonly Route[], version: string) {
  const own = route({
    method: "get",
    path: "/admin/openapi.json",
    summary: "This document",
    access: "read",
    responses: {
      200: {
        description: "The OpenAPI 3.1 document of all routes",
        body: z.looseObject({ openapi: z.literal("3.1.0") }),
      },
    },
  }).answer(async () => ({ status: 200, body: document() }));
  // Made at the first request, since every isolate starts without needing it.
  let made: OpenApiDocument | undefined;
  function document(): OpenApiDocument {
    return (made ??= { ...describeRoutes([...others, own], version), openapi: "3.1.0" });
  }
  return [own];
}
