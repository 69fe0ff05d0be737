import type * as z from "zod";

/** The value of a JSON text; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Says what is wrong with a stored value; null if nothing. A newer Worker may have stored more fields. */
export function misfitOf(value: unknown, schema: z.ZodType): string | null {
  const issues = schema.safeParse(value).error?.issues ?? [];
  const faults = issues.filter(({ code }) => code !== "unrecognized_keys");
  if (faults.length === 0) return null;
  return faults.map(({ path, message }) => [...path.map(String), message].join(": ")).join("; ");
}

/** Enough to fix a value by. */
const ISSUES_NAMED = 5;

/** Says what is wrong with a value from outside. Names no unknown field: it may be a secret. */
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
