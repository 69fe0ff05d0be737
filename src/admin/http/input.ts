import type { Context } from "hono";
import { z } from "zod";
import { concatenate } from "../../catalog/bytes.ts";
import { settledWithin } from "../../storage/deadline.ts";
import type { Http, Input, Problem } from "./http.ts";
import type { RouteSpec } from "./route.ts";

/** Reads the path's parameters, the query and the body, or finds what is wrong with them. */
export async function readInput(c: Context<Http>, spec: RouteSpec): Promise<Input | Problem> {
  const params = parse(spec.params, c.req.param(), "parameter");
  if (!params.success) {
    const detail = `There is nothing at this path: ${describeIssues(params.error)}.`;
    return { status: 404, code: "not_found", detail };
  }
  const { searchParams } = new URL(c.req.url);
  const twice = findTwice([...searchParams.keys()]);
  if (twice !== undefined)
    return badRequest("duplicate_parameter", `The parameter "${twice}" is given twice.`);
  const query = parse(spec.query, Object.fromEntries(searchParams), "parameter");
  if (!query.success) return badRequest("invalid_query", describeIssues(query.error));
  const read = { params: params.data, query: query.data };
  if (spec.method !== "post") return { ...read, body: undefined };
  const json = await readJson(c.req.raw.body);
  if ("code" in json) return json;
  const body = parse(spec.body, json.value, "field");
  if (!body.success) return badRequest("invalid_body", describeIssues(body.error));
  return { ...read, body: body.data };
}

const NO_FIELDS = z.strictObject({});

function parse(schema: z.ZodObject | undefined, value: unknown, what: "field" | "parameter") {
  return (schema ?? NO_FIELDS).safeParse(value, {
    error(issue) {
      if (issue.code === "unrecognized_keys")
        return issue.keys.map((key) => `unknown ${what} "${key}"`).join("; ");
      return issue.input === undefined ? `this ${what} is missing` : undefined;
    },
  });
}

/** What is wrong, by the name of the field or parameter; never its value. */
function describeIssues({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => [...path, message].join(": ")).join("; ");
}

function badRequest(code: string, detail: string): Problem {
  return { status: 400, code, detail };
}

function findTwice(names: readonly string[]): string | undefined {
  return names.find((name, index) => names.indexOf(name) !== index);
}

/** Most bytes of a request body on an admin route. */
const MAX_BODY_BYTES = 16 * 1024;
const BODY_DEADLINE_MS = 10_000;

type Body = ReadableStream<Uint8Array> | null;

/** Reads a body as JSON. An empty one is an empty object. */
async function readJson(body: Body): Promise<{ readonly value: unknown } | Problem> {
  const read = readBytes(body).catch(() => INCOMPLETE);
  const bytes = await settledWithin(BODY_DEADLINE_MS, read, () => LATE);
  if ("code" in bytes) return bytes;
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

/** Does not read the rest of a body that is too large. */
async function readBytes(body: Body): Promise<Uint8Array | Problem> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return TOO_LARGE;
    chunks.push(chunk);
  }
  return concatenate(chunks);
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
