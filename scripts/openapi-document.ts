import { type AdminDependencies, routeGroups } from "../src/admin/app.ts";
import { describeRoutes } from "../src/admin/http/openapi.ts";
import type { OpenApiDocument } from "./openapi-html.ts";

/** The OpenAPI document of the routes over plain HTTP, without a running service. */
export function openApiDocument(): OpenApiDocument {
  return describeRoutes(routeGroups(nothing), "") as unknown as OpenApiDocument; // its parts that are shown
}

/** In the place of what routes work with: a description reads it and calls nothing of it. */
const nothing: AdminDependencies = new Proxy(() => undefined, {
  get: (): unknown => nothing,
  apply: (): unknown => nothing,
}) as unknown as AdminDependencies;
