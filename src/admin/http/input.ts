import { z } from "zod";
import { concatenate } from "../../catalog/bytes.ts";
import { withTimeout } from "../../storage/deadline.ts";
import type { Problem } from "./problem.ts";
import type { RouteSpec } from "./route.ts";

/** A request as its route's schemas read it. */
export interface Input {
  readonly params: { readonly [name: string]: unknown };
  readonly query: unknown;
  readonly body: unknown;
}

const NO_FIELDS = z.strictObject({});

/** Reads the path's parameters, the query and the body, or finds what is wrong with them. */
export async function readInput(
  request: Request,
  pathParams: { readonly [name: string]: string },
  spec: RouteSpec,
): Promise<Input | Problem> {
  const params = (spec.params ?? NO_FIELDS).safeParse(pathParams);
  if (!params.success) {
    const issues = describeIssues(params.error, "parameter");
    return { status: 404, code: "not_found", detail: `There is nothing at this path: ${issues}.` };
  }
  const { searchParams } = new URL(request.url);
  const twice = findTwice([...searchParams.keys()]);
  if (twice !== undefined)
    return badRequest("duplicate_parameter", `The parameter "${twice}" is given twice.`);
  const query = (spec.query ?? NO_FIELDS).safeParse(Object.fromEntries(searchParams));
  if (!query.success) return badRequest("invalid_query", describeIssues(query.error, "parameter"));
  const read = { params: params.data, query: query.data };
  if (spec.method !== "post") return { ...read, body: undefined };
  const json = await readJson(request.body);
  if ("code" in json) return json;
  const body = (spec.body ?? NO_FIELDS).safeParse(json.value);
  if (!body.success) return badRequest("invalid_body", describeIssues(body.error, "field"));
  return { ...read, body: body.data };
}

function badRequest(code: string, detail: string): Problem {
  return { status: 400, code, detail };
}

function findTwice(names: readonly string[]): string | undefined {
  return names.find((name, index) => names.indexOf(name) !== index);
}

/** What is wrong, by the name of the field or parameter; never its value. */
function describeIssues(error: z.ZodError, what: "field" | "parameter"): string {
  const issues = error.issues.map((issue) => {
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => `unknown ${what} "${key}"`).join("; ");
    if (issue.path.length === 0) return issue.message;
    // Zod reports a missing value in its message only.
    const isMissing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
    return `${issue.path.join(".")}: ${isMissing ? `this ${what} is missing` : issue.message}`;
  });
  return issues.join("; ");
}

/** Most bytes of a request body on an admin route. */
const MAX_BODY_BYTES = 16 * 1024;
const BODY_DEADLINE_MS = 10_000;

/** Reads a body as JSON. An empty one is an empty object. */
async function readJson(
  body: ReadableStream<Uint8Array> | null,
): Promise<{ readonly value: unknown } | Problem> {
  try {
    const bytes = await withTimeout(BODY_DEADLINE_MS, readBytes(body), () => new BodyLate());
    return bytes === undefined ? TOO_LARGE : parseBody(bytes);
  } catch (cause) {
    return cause instanceof BodyLate ? LATE : INCOMPLETE;
  }
}

class BodyLate extends Error {}

/** Undefined if the body is too large; then the rest is not read. */
async function readBytes(body: ReadableStream<Uint8Array> | null) {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return concatenate(chunks);
}

function parseBody(bytes: Uint8Array): { readonly value: unknown } | Problem {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
    const value: unknown = text.trim() === "" ? {} : JSON.parse(text);
    const twice = findTwice(outermostKeys(text));
    if (twice === undefined) return { value };
    return badRequest("duplicate_field", `The field ${JSON.stringify(twice)} is given twice.`);
  } catch {
    return badRequest("malformed_json", "The body is not JSON in UTF-8.");
  }
}

/** The fields of the outermost object, also those that `JSON.parse` drops for a later one. */
function outermostKeys(json: string): string[] {
  const keys: string[] = [];
  let depth = 0;
  for (const [, text, isKey, bracket] of json.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|([[\]{}])/g)) {
    if (bracket !== undefined) depth += "[{".includes(bracket) ? 1 : -1;
    if (text !== undefined && isKey !== undefined && depth === 1) keys.push(JSON.parse(text));
  }
  return keys;
}

const TOO_LARGE: Problem = {
  status: 413,
  code: "body_too_large",
  detail: `The body may have ${MAX_BODY_BYTES} bytes at most.`,
};
const LATE: Problem = {
  status: 408,
  code: "body_late",
  detail: `The body did not arrive within ${BODY_DEADLINE_MS / 1000} seconds. Send it again.`,
};
const INCOMPLETE = badRequest("body_incomplete", "The body did not arrive whole. Send it again.");
