import type { z } from "zod";
import type { Problem } from "./problem.ts";

/** Most bytes of a request body on an admin route. */
const MAX_BODY_BYTES = 16 * 1024;

export type BodyResult<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem };

/** Reads a JSON object with known fields only; an empty body is an empty object. */
export async function readBody<S extends z.ZodType>(
  request: Request,
  schema: S,
): Promise<BodyResult<z.output<S>>> {
  const text = await readText(request);
  if (text === undefined)
    return refuse(413, "body_too_large", `The body may have ${MAX_BODY_BYTES} bytes at most.`);
  let json: unknown;
  try {
    json = text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    return refuse(400, "malformed_json", "The body is not JSON.");
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return { ok: true, value: parsed.data };
  const issues = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`,
  );
  return refuse(400, "invalid_body", issues.join("; "));
}

/** The body as text; undefined once it is longer than allowed, without reading on. */
async function readText(request: Request): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function refuse(status: 400 | 413, code: string, detail: string): { ok: false; problem: Problem } {
  return { ok: false, problem: { status, code, detail } };
}
