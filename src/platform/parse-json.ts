import type * as z from "zod";

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Describes the problem of a stored value; null if it is valid. Ignores unknown fields, which a newer
 * Worker may have stored.
 */
export function misfitOf(value: unknown, schema: z.ZodType): string | null {
  const issues = schema.safeParse(value).error?.issues ?? [];
  const faults = issues.filter(({ code }) => code !== "unrecognized_keys");
  if (faults.length === 0) return null;
  return faults.map(({ path, message }) => [...path.map(String), message].join(": ")).join("; ");
}

const ISSUES_NAMED = 5;

/** Describes the problem of a value from outside. Names no unknown field: it may be a secret. */
export function describeIssues({ issues }: z.ZodError): string {
  const texts = issues
    .slice(0, ISSUES_NAMED)
    .map(({ code, path, message }) =>
      [...path.map(String), code === "unrecognized_keys" ? "has an unknown field" : message].join(
        " ",
      ),
    );
  const others = issues.length - texts.length;
  return [...texts, ...(others > 0 ? [`and ${others} more`] : [])].join("; ");
}
