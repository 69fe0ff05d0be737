import type * as z from "zod";

/** The value of a JSON text; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Enough to mend a value by. */
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
