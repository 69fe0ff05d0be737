/** Finds the regular expressions of modules, and analyzes their automata. */
import { check, type Diagnostics } from "recheck";
import { parseAst } from "vitest/node";

/**
 * Expressions that are not proved to be linear, as written in the code, with the reason why they may
 * stay. An unused one fails the check.
 */
export const EXCEPTIONS: { readonly [code: string]: string } = {
  [String.raw`/(?<!\p{L})\p{L}(?:\.\p{L}){2,}(?!\p{L})/gu`]:
    "Names have at most 120 characters. Its assertions look at one character each, and of single letters with points between them only the first can be a beginning.",
  [String.raw`/(?<![\p{L}\p{N}])\p{L}(?:\.\p{L})+(?![\p{L}\p{N}])/gu`]:
    "A query has at most 80 characters, and a name 120. Its assertions look at one character each, as above.",
  [String.raw`new RegExp(${"`"}[${"$"}{Object.keys(DIGRAPHS).join("")}]${"`"}, "g")`]:
    "One letter of a list.",
  [String.raw`new RegExp( ${"`"}${"$"}{LETTERS.source}|${"$"}{[...new Set(Object.values(DIGRAPHS))].join("|")}${"`"}, "g", )`]:
    "One letter of a list, or two; nothing in it repeats.",
  [String.raw`new RegExp( ${"`"}(?<=[^ ])(?:${"$"}{["国際", "國際", "国际", "국제"].map(foldForSearch).join("|")})?${"`"} + ${"`"}(${"$"}{["空港", "机场", "機場", "공항"].map(foldForSearch).join("|")})${"$"}${"`"}, "u", )`]:
    "A query has at most 80 characters. The words are those of a list, and nothing in it repeats.",
};

/** A regular expression, with its place. */
export interface Expression {
  /** Such as `src/platform/log.ts:12`. */
  readonly at: string;
  /** As written there, with single spaces. */
  readonly code: string;
  /** Null if it is composed at run time. */
  readonly pattern: RegExp | null;
}

/** The result of analyzing an expression. */
export interface Verdict extends Expression {
  /** Null if its cost is proved to be linear in the length of a text. */
  readonly objection: string | null;
}

/** Decides alone, and exactly; the library's fuzzer would guess. */
const DECIDE = {
  checker: "automaton",
  timeout: 120_000,
  maxNFASize: 1_000_000,
  maxPatternSize: 100_000,
  maxRepeatCount: 100_000,
} as const;

/** Finds every literal and every call of `RegExp` in a module. */
export function findExpressions(file: string, code: string): Expression[] {
  const found: Expression[] = [];
  walk(parseAst(code, { lang: file.endsWith("x") ? "tsx" : "ts" }), (node) => {
    const isCall = node.type === "NewExpression" || node.type === "CallExpression";
    const isBuilt = isCall && node.callee?.name === "RegExp";
    if (node.regex === undefined && !isBuilt) return;
    const { pattern, flags } = node.regex ?? {};
    found.push({
      at: `${file}:${code.slice(0, node.start).split("\n").length}`,
      code: code.slice(node.start, node.end).replaceAll(/\s+/g, " "),
      pattern: pattern === undefined ? null : new RegExp(pattern, flags),
    });
  });
  return found;
}

export async function analyze(expression: Expression): Promise<Verdict> {
  const { pattern } = expression;
  if (pattern === null)
    return {
      ...expression,
      objection: "is put together at run time, so that nothing can analyze it",
    };
  const verdict = await check(pattern.source, pattern.flags, DECIDE);
  return { ...expression, objection: objectionOf(verdict) };
}

function objectionOf(verdict: Diagnostics): string | null {
  switch (verdict.status) {
    case "safe":
      return null;
    case "vulnerable":
      return `is ${verdict.complexity.type} over ${verdict.attack.pattern}`;
    case "unknown":
      return `cannot be analyzed: ${JSON.stringify(verdict.error)}`;
    default:
      return verdict satisfies never;
  }
}

/** Lists what fails the check: objections without an exception, and exceptions without an objection. */
export function findProblems(
  verdicts: readonly Verdict[],
  exceptions: { readonly [code: string]: string },
): string[] {
  const objected = verdicts.filter(({ objection }) => objection !== null);
  const needed = new Set(objected.map(({ code }) => code));
  return [
    ...objected
      .filter(({ code }) => exceptions[code] === undefined)
      .map(({ at, code, objection }) => `${at}: ${code} ${objection}`),
    ...Object.keys(exceptions)
      .filter((code) => !needed.has(code))
      .map((code) => `the exception for ${code} is not needed any more`),
  ];
}

/** A node of ESTree, as far as it is looked at. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly callee?: { readonly name?: string };
  readonly regex?: { readonly pattern: string; readonly flags: string };
}

function walk(node: object, visit: (node: Node) => void): void {
  if ("type" in node) visit(node as Node); // ESTree: what has a type is a node
  for (const value of Object.values(node))
    if (typeof value === "object" && value !== null) walk(value, visit);
}
