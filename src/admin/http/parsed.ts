import type { z } from "zod";
import type { Problem } from "./problem.ts";

/** What came of reading a part of a request. */
export type Parsed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem };

/** A part of a request that cannot be used. */
export function refuse(
  status: Problem["status"],
  code: string,
  detail: string,
): { readonly ok: false; readonly problem: Problem } {
  return { ok: false, problem: { status, code, detail } };
}

/** Zod tells of a value that is not there only in its message: issues carry no input. */
function isMissing(issue: z.core.$ZodIssue): boolean {
  return issue.code === "invalid_type" && issue.message.endsWith("received undefined");
}

/** What is wrong, by the name of the field or parameter; never its value. */
export function describeIssues(error: z.ZodError, what: "field" | "parameter"): string {
  const issues = error.issues.map((issue) => {
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => `unknown ${what} "${key}"`).join("; ");
    const message = isMissing(issue) ? `this ${what} is missing` : issue.message;
    return issue.path.length === 0 ? issue.message : `${issue.path.join(".")}: ${message}`;
  });
  return issues.join("; ");
}
