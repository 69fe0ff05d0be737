/** The OpenAPI document of all that is plain HTTP, which is one of the Worker's static assets. */
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import * as z from "zod";
import { contractSchemas } from "./contract-schemas.ts";
import { OUTSIDE_ROUTES } from "./openapi-call.ts";
import packageJson from "../../package.json" with { type: "json" };
import { allRoutes } from "../../src/admin/app.ts";
import { PROBLEM_MEDIA_TYPE, problemSchema } from "../../src/admin/http/http.ts";
import type { ResponseSpec, Route, RouteSpec } from "../../src/admin/http/route.ts";
import type { AdminPlatform } from "../../src/admin/admin-platform.ts";

/**
 * Makes the document of the call and of all routes, without a running service.
 *
 * @param contract the text of the contract, whose comments describe the messages.
 */
export function openApiDocument(contract: string) {
  const schemas = { ...contractSchemas(contract), ...OUTSIDE_ROUTES.schemas };
  return describeRoutes(allRoutes(nothing), { ...OUTSIDE_ROUTES, schemas });
}

/** Stands in for the routes' dependencies, none of which a description calls. */
const nothing: AdminPlatform = new Proxy(() => undefined, {
  get: (): unknown => nothing,
  apply: (): unknown => nothing,
}) as unknown as AdminPlatform;

/**
 * The OpenAPI 3.1 document of routes, made from the schemas that validate their requests, and of what
 * else is open to everybody.
 */
export function describeRoutes(
  routes: readonly Route[],
  others: Partial<typeof OUTSIDE_ROUTES> = {},
) {
  const paths: { [path: string]: { [method: string]: ZodOpenApiOperationObject } } = {};
  for (const [path, methods] of Object.entries(others.paths ?? {}))
    for (const [method, described] of Object.entries(methods))
      paths[path] = { ...paths[path], [method]: { ...described, tags: ["public"], security: [] } };
  for (const { spec } of routes) {
    const path = spec.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [spec.method]: operation(spec) };
  }
  const document: ZodOpenApiObject = {
    openapi: "3.1.0",
    info: {
      title: "Locations at the Edge",
      version: packageJson.version,
      license: { name: "MIT", identifier: "MIT" },
      description: [
        "Clients of the catalog need only the operations with the tag `public`. Errors of the call are those of Connect; what follows is about the routes.",
        "Routes below `/admin` need a credential: `Authorization: Bearer` with a token, or a login by Cloudflare Access. The others are public.",
        "Bodies are JSON objects of at most 16 KiB; an empty body is `{}`. Unknown fields and parameters are refused, but public routes ignore unknown parameters. Lists take `limit` and `cursor`, the `next_cursor` of the page before. Errors are problem+json (RFC 9457): `code` is for programs, `detail` says what to do, and the log has the `request_id`.",
        "Every change takes a `note` and answers `changed` and `message`. It can be repeated after a lost answer: the outcome is the same. What starts work takes an `Idempotency-Key`; without one, a repeated request may start it once more. Another request with the same key is refused (422).",
        "Without notice, operations, optional parameters and fields, fields of answers, values of enumerations and codes may be added: ignore those that you do not know. Anything else is deprecated for twelve months before it goes.",
      ].join("\n\n"),
    },
    servers: [{ url: "/", description: "The host that serves this document." }],
    tags: Object.entries(TAGS).map(([name, text]) => ({ name, description: text })),
    paths,
    components: {
      schemas: { ...others.schemas },
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
  };
  return loosen(createDocument(document));
}

/** Leaves out bounds that only say that a number is safe, and lets answers gain fields. */
function loosen<Document>(document: Document): Document {
  const text = JSON.stringify(document, (key, value: unknown) => {
    const isOfAnswers = key === "responses" || key === "components";
    if (isOfAnswers) return JSON.parse(JSON.stringify(value, withoutClosing));
    return value === Number.MIN_SAFE_INTEGER || value === Number.MAX_SAFE_INTEGER
      ? undefined
      : value;
  });
  return JSON.parse(text) as Document; // whose schemas only lack what is optional
}

function withoutClosing(key: string, value: unknown): unknown {
  return key === "additionalProperties" && value === false ? undefined : value;
}

/** Subjects of the groups of operations, by the segment of their paths below `/admin`. */
const TAGS = {
  public: "The catalog for clients, and what is known of it. Nothing here needs a credential.",
  ingest: "Runs, their queue and pause, and held changes by upstream.",
  catalog: "Published versions.",
  backup: "Backups, and the jobs that make, verify and restore them.",
  alerts: "Alerts, their evaluations and their notifications.",
  audit: "What operators changed.",
  monitor: "Every check of the service.",
  whoami: "The credential of a request.",
};

function operation(spec: RouteSpec): ZodOpenApiOperationObject {
  const { operationId, access, params, path, query, body, summary, description } = spec;
  const [, group = "public"] = /^\/admin\/(\w+)/.exec(path) ?? [];
  return {
    operationId,
    summary,
    description,
    tags: [group],
    // OpenAPI 3.1: the names of the roles that are required.
    security: access === "public" ? [] : [{ token: [access] }, { access: [access] }],
    requestParams: {
      ...(params && { path: params }),
      ...(query && { query }),
      ...(access === "operate" && spec.startsWork && { header: IDEMPOTENCY_HEADER }),
    },
    ...(body && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: { "application/json": { schema: body } },
      },
    }),
    responses: responses(spec),
  };
}

const IDEMPOTENCY_HEADER = z.object({
  "Idempotency-Key": z.string().min(1).max(128).optional().meta({
    description:
      "A UUID, say. A request that repeats an earlier one, with its key, is answered with what that one started, while it is among the last hundred. Another request with the key is refused.",
  }),
});

/** Successes and problems. A status may stand for several, in two media types. */
function responses(spec: RouteSpec) {
  const { access, method, params, responses: successes, problems = {} } = spec;
  const codes = [
    OF_ALL,
    method === "post" ? OF_BODIES : {},
    params ? OF_IDS : {},
    access === "public" ? {} : OF_ADMIN,
    access === "operate" && spec.startsWork ? OF_KEYS : {},
    problems,
  ].flatMap((table) => Object.entries(table));
  const found: { [status: string]: ZodOpenApiResponseObject } = {};
  for (const [status, { description, body, headers = {}, mediaType = "application/json" }] of [
    ...Object.entries(successes),
    ...codes.map(problemResponse),
  ]) {
    const { [status]: other } = found;
    const content = body && { ...other?.content, [mediaType]: { schema: body } };
    found[status] = {
      description: other ? `${other.description}; ${description}` : description,
      ...(content && { content }),
      headers: Object.assign({}, other?.headers, describeHeaders(headers)),
    };
  }
  return found;
}

function problemResponse([status, description]: [string, string]): [string, ResponseSpec] {
  const headers = OF_PROBLEMS[status] ?? {};
  return [status, { description, headers, body: problemSchema, mediaType: PROBLEM_MEDIA_TYPE }];
}

function describeHeaders(headers: NonNullable<ResponseSpec["headers"]>) {
  const schema = { type: "string" } as const;
  const named = Object.entries(headers);
  return Object.fromEntries(named.map(([name, description]) => [name, { description, schema }]));
}

const RETRY = { "Retry-After": "Seconds to wait before the next try." };

/** The headers of problems, by status. */
const OF_PROBLEMS: { readonly [status: string]: { readonly [name: string]: string } } = {
  401: { "WWW-Authenticate": "The scheme Bearer (RFC 6750)." },
  405: { Allow: "The methods that the path takes." },
  415: { Accept: "The media type to send.", "Accept-Encoding": "The content coding to send." },
  429: RETRY,
  503: RETRY,
};

const OF_ALL = {
  400: "`invalid_query`, `duplicate_parameter`: the detail names what is wrong",
  405: "`method_not_allowed`: see the header Allow",
  500: "`internal`: a bug, whose cause is in the log",
};
const OF_BODIES = {
  400: "`invalid_body`, `malformed_json`, `duplicate_field`, `body_incomplete`, `invalid_idempotency_key`",
  408: "`body_late`: it did not arrive within 10 seconds",
  413: "`body_too_large`: over 16 KiB",
  415: "`unsupported_media_type`: not JSON in UTF-8, or compressed; see the header Accept or Accept-Encoding",
};
const OF_IDS = { 404: "`not_found`: the id in the path is malformed" };
const OF_KEYS = {
  422: "`idempotency_key_reused`: an earlier request with this Idempotency-Key was another one",
};
const OF_ADMIN = {
  401: "`unauthenticated`, `token_expired`: no valid credential",
  403: "`scope_missing`: the credential lacks the scope; `cross_site`: sent by another site's page",
  415: "`grpc_refused`: admin routes are plain HTTP",
  429: "`too_many_failures`: too many requests without a valid credential",
  503: "`admin_unconfigured`, `admin_misconfigured`, `access_keys_unavailable`, `coordinator_unavailable`, `other_version`: see the detail",
};
