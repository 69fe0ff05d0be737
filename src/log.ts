export type LogLevel = "info" | "warn" | "error";

/**
 * Writes one JSON object as a line to standard output. Callers pass no tokens, bodies or URLs with
 * secrets in them.
 */
export function logLine(
  level: LogLevel,
  event: string,
  msg: string,
  fields: { readonly [name: string]: unknown } = {},
): void {
  console.log(JSON.stringify({ ts: new Date().toISOString(), level, event, msg, ...fields }));
}

/** What a log line says of an error. */
export function describeError(error: unknown): { error: string; stack?: string | undefined } {
  return error instanceof Error
    ? { error: `${error.name}: ${error.message}`, stack: error.stack }
    : { error: String(error) };
}
