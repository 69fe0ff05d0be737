export type LogLevel = "info" | "warn" | "error";

export type Log = (
  level: LogLevel,
  event: string,
  fields: { readonly [name: string]: unknown },
) => void;

/** Writes one JSON object as a line to standard output. Must get no tokens, bodies or URLs with secrets. */
export function logLine(
  level: LogLevel,
  event: string,
  msg: string,
  fields: { readonly [name: string]: unknown } = {},
): void {
  console.log(JSON.stringify({ ts: new Date().toISOString(), level, event, msg, ...fields }));
}

const MAX_CAUSES = 5;

type ErrorFields = {
  readonly error: string;
  readonly stack?: string | undefined;
  /** The chain of causes, nearest first; absent if empty. */
  readonly causes?: readonly string[];
};

export function describeError(error: unknown): ErrorFields {
  const causes = causesOf(error);
  return {
    error: nameError(error),
    ...(error instanceof Error && { stack: error.stack }),
    ...(causes.length > 0 && { causes }),
  };
}

/** Lists the causes of an error. The bound also ends a circular chain. */
function causesOf(error: unknown): string[] {
  const causes: string[] = [];
  let cause = causeOf(error);
  while (cause !== undefined && causes.length < MAX_CAUSES) {
    causes.push(nameError(cause));
    cause = causeOf(cause);
  }
  return causes;
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

function nameError(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
