import type { z } from "zod";

const KINDS: { readonly [expected: string]: string } = {
  int: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

/**
 * Says in plain words what is wrong with a value of a request, and never repeats the value. Undefined
 * for what a schema says itself.
 *
 * @param what the request has there: a field or a parameter.
 */
export function inPlainWords(
  issue: z.core.$ZodRawIssue,
  what: "field" | "parameter",
): string | undefined {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => `unknown ${what} "${key}"`).join("; ");
  if (issue.input === undefined) return `this ${what} is missing`;
  if (issue.code === "invalid_type") return `must be ${KINDS[issue.expected] ?? issue.expected}`;
  if (issue.code === "invalid_value")
    return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
  if (issue.code === "too_small") return `must be at least ${issue.minimum}`;
  if (issue.code !== "too_big") return undefined;
  const unit = issue.origin === "string" ? " characters" : "";
  return `must ${unit === "" ? "be" : "have"} at most ${issue.maximum}${unit}`;
}
