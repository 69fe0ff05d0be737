/** Checks answers against the OpenAPI document. */
import { Validator } from "@cfworker/json-schema";
import { OUTSIDE_ROUTES } from "../../web/build/openapi-call.ts";
import contract from "../../proto/locations/v1/locations.proto?raw";
import { openApiDocument } from "../../web/build/openapi-document.ts";

/** An OpenAPI document, as far as it is looked into. */
export type OpenApi = Pick<
  ReturnType<typeof openApiDocument>,
  "paths" | "components" | "servers" | "tags"
>;

/** The service's OpenAPI document, by which an answer has no other fields. */
export const OPENAPI: OpenApi = closed(openApiDocument(contract));

/** The paths that `src/admin/` routes. */
export const ROUTE_PATHS = Object.fromEntries(
  Object.entries(OPENAPI.paths ?? {}).filter(([path]) => !(path in OUTSIDE_ROUTES.paths)),
);

/** Lets answers have only the fields that a document names. It allows others, for later versions. */
export function closed<Document extends OpenApi>(document: Document): Document {
  return JSON.parse(JSON.stringify(document), (_, value: unknown) =>
    isObjectSchema(value) ? { additionalProperties: false, ...value } : value,
  ) as Document; // which differs in its schemas only
}

function isObjectSchema(value: unknown): value is object {
  return typeof value === "object" && value !== null && "properties" in value;
}

interface Operation {
  readonly responses: {
    readonly [status: string]: {
      readonly description: string;
      readonly content?: Content;
      readonly headers?: object;
    };
  };
}

type Content = { readonly [mediaType: string]: { readonly schema: object } };

const PROBLEM = { $ref: "#/components/schemas/Problem" };

/** Headers with information that the body lacks. */
const TELLING = ["location", "etag", "retry-after", "allow", "www-authenticate", "accept"];

/**
 * Throws where an answer is not one that the document describes, or a problem has a code that it
 * does not name for that status. Leaves the body to be read.
 */
export async function checkAnswer(
  document: OpenApi,
  request: { readonly method: string; readonly path: string },
  answer: Response,
): Promise<void> {
  // A preflight is the browser's own, and no operation.
  if (request.method === "OPTIONS" && answer.status === 204) return;
  const mediaType = (answer.headers.get("content-type") ?? "").split(";")[0] ?? "";
  const about = `${request.method} ${request.path} → ${answer.status} ${mediaType}`;
  const operation = findOperation(document, request);
  const response = operation?.responses[answer.status];
  // What is no operation at all is refused, by a problem.
  const isRefused = operation === undefined && answer.status >= 400;
  if (response === undefined && !isRefused) throw new Error(`${about} is not described`);
  const described = Object.keys(response?.headers ?? {}).map((name) => name.toLowerCase());
  const header = TELLING.find((name) => answer.headers.has(name) && !described.includes(name));
  if (response !== undefined && header !== undefined)
    throw new Error(`${about}: the header ${header} is not described`);
  const content = response === undefined ? undefined : (response.content ?? {});
  const schema = content === undefined ? PROBLEM : content[mediaType]?.schema;
  const text = await answer.clone().text();
  if (schema === undefined) {
    if (text === "") return;
    throw new Error(`${about}: the media type is not described`);
  }
  if (request.method === "HEAD") return;
  const body: unknown = mediaType.startsWith("text/") ? text : JSON.parse(text);
  const { valid, errors } = validator(document, schema).validate(body);
  if (!valid) throw new Error(`${about}: ${JSON.stringify(errors.slice(-3))} in ${text}`);
  if (response === undefined || mediaType !== "application/problem+json") return;
  const { code } = JSON.parse(text) as { code: string }; // a problem, as the schema says
  if (!response.description.includes(`\`${code}\``))
    throw new Error(`${about}: the code ${code} is not described`);
}

/** The validators that were made, by document and schema: making one goes through all components. */
const VALIDATORS = new WeakMap<OpenApi, Map<object, Validator>>();

/** Refers to components in the document, which is therefore its root. */
function validator(document: OpenApi, schema: object): Validator {
  const known = VALIDATORS.get(document) ?? new Map<object, Validator>();
  VALIDATORS.set(document, known);
  const root = { ...schema, components: document.components };
  // JSON Schema, as zod-openapi makes it
  const found = known.get(schema) ?? new Validator(root, "2020-12", false);
  known.set(schema, found);
  return found;
}

function findOperation(
  { paths }: OpenApi,
  { method, path }: { readonly method: string; readonly path: string },
): Operation | undefined {
  const { pathname } = new URL(path, "https://locations.test");
  const exact = Object.entries(paths ?? {}).find(([template]) => template === pathname);
  const found =
    exact ??
    Object.entries(paths ?? {}).find(([template]) =>
      new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(pathname),
    );
  const verb = method === "HEAD" ? "get" : method.toLowerCase();
  const item = found?.[1] as { readonly [method: string]: Operation } | undefined; // plain OpenAPI
  return item?.[verb];
}
