import { concatenate } from "../catalog/bytes.ts";
import { describeCause } from "./http-request.ts";
import type { Deadline } from "./request-deadline.ts";
import { tooLarge } from "./source-file.ts";
import { PassingError, SourceError } from "./source-error.ts";

interface BodyLimits {
  /** Name of the file in messages. */
  readonly where: string;
  /** Limit of the announced and of the decoded bytes. */
  readonly maxBytes: number;
  readonly deadline: Deadline;
}

/**
 * Reads a body that the platform decodes. Buffers at most `maxBytes` and one chunk, and twice that
 * while it joins the chunks.
 *
 * The framing reveals a truncated body: Content-Length, the last chunk or the end of gzip. Node does
 * not detect the last case; workerd does. Both cut a body that is longer than its Content-Length,
 * and only the CSV reader detects that.
 *
 * @throws SourceError `bad_encoding`, `too_large`, `deadline` or `truncated`.
 */
export async function readCappedBody(response: Response, limits: BodyLimits): Promise<Uint8Array> {
  const { where, maxBytes, deadline } = limits;
  const coding = response.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (!KNOWN_CODINGS.has(coding))
    throw new SourceError(
      "bad_encoding",
      `${where} has the content coding "${coding}", but the request allowed only gzip or none; check the server`,
    );
  const announced = parseLength(response.headers.get("content-length"));
  if (announced !== null && announced > maxBytes) throw tooLarge(where, maxBytes, announced);
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const chunk = await deadline.wait(
      where,
      readChunk(reader, where, () => length),
    );
    if (chunk === undefined) break;
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(where, maxBytes);
    chunks.push(chunk);
  }
  if (coding === "identity" && announced !== null && length < announced)
    throw brokenOff(where, `after ${length} of ${announced} bytes`);
  return concatenate(chunks);
}

const KNOWN_CODINGS: ReadonlySet<string> = new Set(["identity", "gzip", "x-gzip"]);

function parseLength(value: string | null): number | null {
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

async function readChunk(
  reader: BodyReader | undefined,
  where: string,
  length: () => number,
): Promise<Uint8Array | undefined> {
  try {
    return (await reader?.read())?.value;
  } catch (error) {
    throw brokenOff(where, `after ${length()} bytes${describeCause(error)}`);
  }
}

function brokenOff(where: string, when: string): PassingError {
  return new PassingError(
    "truncated",
    `${where} breaks off, or cannot be decoded, ${when}; try again later`,
  );
}
