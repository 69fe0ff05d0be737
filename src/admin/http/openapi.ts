import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from "zod-openapi";
import { PROBLEM_MEDIA_TYPE, problemSchema } from "./problem.ts";
import type { Route, RouteSpec } from "./route.ts";

/** The OpenAPI 3.1 document of all routes, made from the schemas that validate them. */
export function describeRoutes(routes: readonly Route[], version: string) {
  const paths: { [path: string]: { [method: string]: ZodOpenApiOperationObject } } = {};
  for (const { spec } of routes) {
    const path = spec.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [spec.method]: operation(spec) };
  }
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "Locations at the Edge: operations",
      version,
      description:
        "Operating the service: ingestion, published versions, audit, status and quick checks. Errors are problem+json (RFC 9457).",
    },
    paths: paths satisfies ZodOpenApiPathsObject,
    components: {
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          description: "A token whose SHA-256 is in the secret ADMIN_TOKENS.",
        },
        access: {
          type: "apiKey",
          in: "header",
          name: "Cf-Access-Jwt-Assertion",
          description: "Set by Cloudflare Access in front of the service.",
        },
      },
    },
  });
}

function operation(spec: RouteSpec): ZodOpenApiOperationObject {
  const { access, params, query, body } = spec;
  return {
    operationId: operationId(spec),
    summary: spec.summary,
    ...(spec.description !== undefined && { description: spec.description }),
    ...(access !== "public" && { security: [{ token: [] }, { access: [] }], "x-scope": access }),
    ...((params ?? query) && {
      requestParams: { ...(params && { path: params }), ...(query && { query }) },
    }),
    ...(body && {
      requestBody: { required: false, content: { "application/json": { schema: body } } },
    }),
    responses: responses(spec),
  };
}

/** `GET /admin/ingest/runs/:id` is `getAdminIngestRunsById`. */
function operationId({ method, path }: RouteSpec): string {
  const words = path
    .replaceAll(":", "by-")
    .split(/[^a-z0-9]+/i)
    .filter((word) => word !== "");
  return [method, ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join("");
}

/** Successes and problems; a status may stand for both, in two media types. */
function responses(spec: RouteSpec): ZodOpenApiResponsesObject {
  const found: { [status: string]: ZodOpenApiResponseObject } = {};
  const problem = { [PROBLEM_MEDIA_TYPE]: { schema: problemSchema } };
  for (const [status, description] of Object.entries(problems(spec)))
    found[status] = { description, content: problem };
  for (const [status, response] of Object.entries(spec.responses)) {
    const { description, body: schema, mediaType = "application/json" } = response;
    const other = found[status];
    found[status] = {
      description: [description, other?.description].filter((text) => text).join("; or "),
      ...(schema && { content: { [mediaType]: { schema }, ...other?.content } }),
    };
  }
  return found;
}

const ADMIN_PROBLEMS = {
  401: "`unauthenticated`: no valid credential",
  403: "`scope_missing`: the credential lacks the scope; `cross_site`: sent by another site's page",
  415: "`grpc_refused`: admin routes are plain HTTP",
  429: "`too_many_failures`: too many requests without a valid credential",
  503: "`admin_unconfigured`, `admin_misconfigured`, `access_keys_unavailable`, `coordinator_unavailable`: see the detail",
};

/** Codes of a request that cannot be read. */
function malformed({ method, invalidParams }: RouteSpec): string[] {
  return [
    ...(invalidParams === 400 ? ["invalid_path"] : []),
    "invalid_query",
    "duplicate_parameter",
    ...(method === "post"
      ? ["invalid_body", "malformed_json", "duplicate_field", "body_incomplete"]
      : []),
  ];
}

function listCodes(codes: readonly string[]): string {
  return codes.map((code) => `\`${code}\``).join(", ");
}

/** What each status of a problem means, with the codes of its problems. */
function problems(spec: RouteSpec): { [status: string]: string } {
  const described: { [status: string]: string } = {
    400: `${listCodes(malformed(spec))}: the detail names what is wrong`,
    405: "`method_not_allowed`: see the header Allow",
    ...(spec.method === "post" && {
      408: "`body_late`: it did not arrive within 10 seconds",
      413: "`body_too_large`: over 16 KiB",
    }),
    500: "`internal`: a bug, whose cause is in the log",
    ...(spec.params && spec.invalidParams !== 400 && { 404: "`not_found`" }),
    ...(spec.access !== "public" && ADMIN_PROBLEMS),
  };
  for (const [status, codes] of Object.entries(spec.problems ?? {}))
    described[status] = [described[status], codes].filter((text) => text).join("; ");
  return described;
}
