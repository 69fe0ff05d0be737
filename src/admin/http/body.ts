import type { z } from "zod";
import { describeIssues, type Parsed, refuse } from "./parsed.ts";

/** Most bytes of a request body on an admin route. */
const MAX_BODY_BYTES = 16 * 1024;
/** How long it may take to arrive. */
const BODY_DEADLINE_MS = 10_000;

/** Reads a JSON object with known fields only, each once; an empty body is an empty object. */
export async function readBody<S extends z.ZodType>(
  request: Request,
  schema: S,
): Promise<Parsed<z.output<S>>> {
  const text = await readText(request);
  if (text === "incomplete") return BODY_INCOMPLETE;
  if (text === "late")
    return refuse(
      408,
      "body_late",
      `The body did not arrive within ${BODY_DEADLINE_MS / 1000} seconds. Send it again.`,
    );
  if (text === "too_large")
    return refuse(413, "body_too_large", `The body may have ${MAX_BODY_BYTES} bytes at most.`);
  const json = text === undefined ? undefined : parseJson(text.value);
  if (text === undefined || json === undefined)
    return refuse(400, "malformed_json", "The body is not JSON in UTF-8.");
  const twice = findDuplicate(text.value);
  if (twice !== undefined)
    return refuse(400, "duplicate_field", `The field ${twice} is given twice.`);
  const parsed = schema.safeParse(json);
  if (parsed.success) return { ok: true, value: parsed.data };
  return refuse(400, "invalid_body", describeIssues(parsed.error, "field"));
}

/** The answer to a body that was cut off before its end. */
const BODY_INCOMPLETE = refuse(
  400,
  "body_incomplete",
  "The body did not arrive whole. Send it again.",
);

type Text = { readonly value: string } | "too_large" | "incomplete" | "late" | undefined;

/** The body as text; undefined if it is not UTF-8. */
async function readText(request: Request): Promise<Text> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(resolve, BODY_DEADLINE_MS, "late");
  });
  try {
    return await Promise.race([decodeAll(request.body ?? []), late]);
  } catch {
    return "incomplete";
  } finally {
    clearTimeout(timer);
  }
}

/** Does not read on once there is too much. Rejects if the chunks are cut off. */
async function decodeAll(chunks: AsyncIterable<Uint8Array> | readonly []): Promise<Text> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  let text = "";
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return "too_large";
    const decoded = decode(() => decoder.decode(chunk, { stream: true }));
    if (decoded === undefined) return undefined;
    text += decoded;
  }
  const rest = decode(() => decoder.decode());
  return rest === undefined ? undefined : { value: text + rest };
}

function decode(work: () => string): string | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function parseJson(text: string): unknown {
  try {
    return text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A field of the outermost object that is there twice, as written: `JSON.parse` takes the last. */
function findDuplicate(json: string): string | undefined {
  const seen = new Set<unknown>();
  let depth = 0;
  for (const [, text, isKey, bracket] of json.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|([[\]{}])/g)) {
    if (bracket !== undefined) depth += "[{".includes(bracket) ? 1 : -1;
    if (text === undefined || isKey === undefined || depth !== 1) continue;
    const name: unknown = JSON.parse(text);
    if (seen.has(name)) return text;
    seen.add(name);
  }
  return undefined;
}
