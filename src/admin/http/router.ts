import { Buffer } from "node:buffer";
import type { Context, Hono } from "hono";
import { cors } from "hono/cors";
import type { StatusCode } from "hono/utils/http-status";
import * as z from "zod";
import { sha256Hex } from "../../catalog/bytes.ts";
import { permit } from "../auth/gate.ts";
import { report, type ReportDependencies } from "../audit/audit-trail.ts";
import { acceptedCodings } from "../../rpc/content-coding.ts";
import { readHead } from "../../rpc/request.ts";
import { isUtf8 } from "../../platform/charset.ts";
import { settledWithin } from "../../platform/deadline.ts";
import { type Http, type RequestInput, sendProblem } from "./http.ts";
import type { Refusal, Route, RouteSpec } from "./route.ts";

interface RouterDependencies extends ReportDependencies {
  /** Whether no other request has used a request's key. */
  readonly claimKey: (key: string, fingerprint: string) => Promise<boolean>;
}

/** Adds routes, and answers every other method of their paths with 405. */
export function addRoutes(
  app: Hono<Http>,
  routes: readonly Route[],
  deps: RouterDependencies,
): void {
  // Path by path: else `/jobs/:id` would take a method that `/jobs/list` refuses.
  for (const [path, ofPath] of Map.groupBy(routes, ({ spec }) => spec.path)) {
    if (ofPath.every(({ spec }) => spec.access === "public")) app.use(path, readableAnywhere);
    for (const route of ofPath) {
      const { method, access } = route.spec;
      app.on(method.toUpperCase(), path, report(route.spec, deps), permit(access), async (c) =>
        answer(c, route, deps),
      );
    }
    const methods = ofPath.map(({ spec }) => spec.method.toUpperCase());
    const allow = methods.join(", ").replace("GET", "GET, HEAD");
    const detail = `This path accepts only ${allow}.`;
    app.all(path, (c) =>
      sendProblem(c, { status: 405, code: "method_not_allowed", detail }, { allow }),
    );
  }
}

/** Lets scripts of any origin read public answers, without credentials. */
const readableAnywhere = cors({
  allowMethods: ["GET", "HEAD"],
  exposeHeaders: ["ETag", "Retry-After"],
  maxAge: 7200,
});

async function answer(
  c: Context<Http>,
  { spec, handle }: Route,
  { claimKey }: RouterDependencies,
): Promise<Response> {
  const input = await readInput(c, spec);
  if ("problem" in input) return sendProblem(c, input.problem, input.headers);
  c.set("input", input);
  const takesKey = spec.access === "operate" && spec.startsWork === true;
  const key = takesKey ? await readIdempotencyKey(c, input, claimKey) : null;
  if (typeof key === "object" && key !== null) return sendProblem(c, key.problem);
  const { actor, requestId } = c.var;
  const { headers: sent } = c.req.raw;
  const codings = acceptedCodings(readHead(c.req.raw));
  const parsed = { ...input, actor, requestId, idempotencyKey: key, headers: sent, codings };
  const answered = await handle(parsed);
  c.set("change", answered.change);
  if ("problem" in answered) return sendProblem(c, answered.problem, answered.headers);
  const { status, body, headers } = answered;
  if (body === undefined) return c.body(null, status as StatusCode, headers); // `spec` names it
  const isSent = typeof body === "string" || body instanceof ArrayBuffer;
  return new Response(isSent ? body : JSON.stringify(body), {
    status,
    headers: {
      "content-type": spec.responses[status]?.mediaType ?? "application/json",
      ...headers,
    },
    // An answer with a coding has it already.
    encodeBody: "manual",
  });
}

/** Reads the path's parameters, the query and the body, or describes their problem. */
async function readInput(c: Context<Http>, spec: RouteSpec): Promise<RequestInput | Refusal> {
  const params = parseInput(spec.params, c.req.param(), "parameter");
  if (typeof params === "string") {
    const detail = `The ${params.replace(": ", " in the path ")}.`;
    return { problem: { status: 404, code: "not_found", detail } };
  }
  const { searchParams } = new URL(c.req.url);
  const { query: querySchema = NO_FIELDS } = spec;
  // Monitors and pages add other parameters against caches.
  const isTaken = (name: string) =>
    spec.access !== "public" || Object.hasOwn(querySchema.shape, name);
  const sent = [...searchParams].filter(([name]) => isTaken(name));
  const twice = findTwice(sent.map(([name]) => name));
  if (twice !== undefined)
    return invalidRequest("duplicate_parameter", `The parameter "${twice}" is given twice.`);
  const query = parseInput(querySchema, Object.fromEntries(sent), "parameter");
  if (typeof query === "string") return invalidRequest("invalid_query", query);
  if (spec.method !== "post") return { params, query, body: undefined };
  const json = await readJson(c.req.raw);
  if ("problem" in json) return json;
  const body = parseInput(spec.body, json.value, "field");
  return typeof body === "string" ? invalidRequest("invalid_body", body) : { params, query, body };
}

/** Such as a UUID, with or without the quotes of a structured field. */
const IDEMPOTENCY_KEY = /^[!-~]{1,128}$/;

/**
 * Makes the key that the repetitions of a request share: from the header and the sender. Refuses a
 * different request with the same key.
 *
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
 */
async function readIdempotencyKey(
  c: Context<Http>,
  { body }: RequestInput,
  claimKey: RouterDependencies["claimKey"],
): Promise<string | Refusal | null> {
  const header = c.req.header("idempotency-key");
  if (header === undefined) return null;
  if (!IDEMPOTENCY_KEY.test(header))
    return invalidRequest(
      "invalid_idempotency_key",
      "The header Idempotency-Key must have 1 to 128 visible ASCII characters.",
    );
  const key = sha256Hex(JSON.stringify([header, c.var.actor?.id]));
  const fingerprint = sha256Hex(JSON.stringify([c.req.method, c.req.path, body]));
  return (await claimKey(key, fingerprint)) ? key : REUSED_KEY;
}

const REUSED_KEY: Refusal = {
  problem: {
    status: 422,
    code: "idempotency_key_reused",
    detail:
      "An earlier request with this Idempotency-Key was another one. Send a new request with a new key.",
  },
};

const NO_FIELDS = z.strictObject({});

/** Returns the value, or its problem, which names the field or parameter and never the value. */
function parseInput(schema: z.ZodObject | undefined, sent: unknown, what: "field" | "parameter") {
  const { success, data, error } = (schema ?? NO_FIELDS).safeParse(sent, {
    error: (issue) => inPlainWords(issue, what),
  });
  if (success) return data;
  return error.issues.map(({ path, message }) => [...path, message].join(": ")).join("; ");
}

function findTwice(names: readonly string[]): string | undefined {
  return names.find((name, index) => names.indexOf(name) !== index);
}

function invalidRequest(code: string, detail: string): Refusal {
  return { problem: { status: 400, code, detail } };
}

const TYPE_NAMES: { readonly [expected: string]: string } = {
  int: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

/** Describes the problem of a value without repeating it; undefined if the schema's message does. */
function inPlainWords(issue: z.core.$ZodRawIssue, what: "field" | "parameter"): string | undefined {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => `unknown ${what} "${key}"`).join("; ");
  if (issue.input === undefined) return `this ${what} is missing`;
  if (issue.code === "invalid_type")
    return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
  if (issue.code === "invalid_value")
    return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
  if (issue.code === "too_small") return `must be at least ${issue.minimum}`;
  if (issue.code !== "too_big") return undefined;
  const unit = issue.origin === "string" ? " characters" : "";
  return `must ${unit === "" ? "be" : "have"} at most ${issue.maximum}${unit}`;
}

/** Maximum size of a request body on an admin route in bytes. */
const MAX_BODY_BYTES = 16 * 1024;
const ADMIN_BODY_DEADLINE_MS = 10_000;

type BodyStream = ReadableStream<Uint8Array> | null;

/** Reads a body as JSON. An empty one is an empty object, of whatever type. */
async function readJson({
  body,
  headers,
}: Request): Promise<{ readonly value: unknown } | Refusal> {
  const read = readBodyBytes(body).catch(() => INCOMPLETE_BODY);
  const bytes = await settledWithin(ADMIN_BODY_DEADLINE_MS, read, () => LATE);
  if ("problem" in bytes) return bytes;
  if (bytes.length === 0) return { value: {} };
  if (!/^(?:identity)?$/i.test(headers.get("content-encoding") ?? "")) return COMPRESSED_BODY;
  const type = headers.get("content-type") ?? "";
  if (!JSON_TYPE.test(type) || !isUtf8(type)) return NO_JSON;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
    const value: unknown = text.trim() === "" ? {} : JSON.parse(text);
    const twice = findTwice(outermostKeys(text));
    if (twice === undefined) return { value };
    return invalidRequest("duplicate_field", `The field ${JSON.stringify(twice)} is given twice.`);
  } catch {
    return invalidRequest("malformed_json", "The body is not JSON in UTF-8.");
  }
}

/** The fields of the outermost object, also those that `JSON.parse` drops for a later one. */
function outermostKeys(json: string): string[] {
  const keys: string[] = [];
  let depth = 0;
  for (const [, text, isKey, bracket] of json.matchAll(/("(?:[^"\\]|\\.)*"?)(\s*:)?|([[\]{}])/g)) {
    if (bracket !== undefined) depth += "[{".includes(bracket) ? 1 : -1;
    if (text !== undefined && isKey !== undefined && depth === 1) keys.push(JSON.parse(text));
  }
  return keys;
}

/** Does not read the rest of a body that is too large. */
async function readBodyBytes(body: BodyStream): Promise<Uint8Array | Refusal> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) {
      const detail = `The body may have at most ${MAX_BODY_BYTES} bytes.`;
      return { problem: { status: 413, code: "body_too_large", detail } };
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const LATE: Refusal = {
  problem: {
    status: 408,
    code: "body_late",
    detail: `The body did not arrive within ${ADMIN_BODY_DEADLINE_MS / 1000} seconds. Send it again.`,
  },
};
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
const NO_JSON = unsupported("Send the body as application/json in UTF-8.", {
  accept: "application/json",
});
const COMPRESSED_BODY = unsupported(
  "Send the body uncompressed: this route accepts no content coding.",
  {
    "accept-encoding": "identity",
  },
);

/** RFC 9110, section 15.5.16: a header says what is accepted. */
function unsupported(detail: string, headers: { readonly [name: string]: string }): Refusal {
  return { problem: { status: 415, code: "unsupported_media_type", detail }, headers };
}

const INCOMPLETE_BODY = invalidRequest(
  "body_incomplete",
  "The body did not arrive whole. Send it again.",
);
