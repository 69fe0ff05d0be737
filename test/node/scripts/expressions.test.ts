import { describe, expect, it } from "vitest";
import { findExpressions, findProblems, analyze } from "../../../scripts/expressions.ts";

const analyzeCode = async (code: string) =>
  Promise.all(findExpressions("src/x.ts", code).map((expression) => analyze(expression)));

describe("the check of regular expressions", () => {
  it.each([
    ["a literal", "const a = /b+/u;", ["/b+/u"]],
    ["an argument", 'f("x".replace(/b/g, ""));', ["/b/g"]],
    ["a field of a class", "class A { readonly #b = /c/; }", ["/c/"]],
    ["a part of a template", "const a = `${/b/.test(c)}`;", ["/b/"]],
    ["a default value", "function f(a: RegExp = /b/) {}", ["/b/"]],
    ["a call", 'const a = new RegExp("b", "u");', ['new RegExp("b", "u")']],
    ["a call without new", "const a = RegExp(\n  b,\n);", ["RegExp( b, )"]],
    ["no division, comment or text", "const a = b / c / d; // /e/\nf('/g/');", []],
  ])("finds %s", (_, code, found) => {
    expect(findExpressions("src/x.ts", code).map((expression) => expression.code)).toEqual(found);
  });

  it("finds those of a page, and says where they stand", () => {
    const code = "export const a = () => (\n  <p>{/b/.test(c) && d}</p>\n);";
    expect(findExpressions("web/x.tsx", code)).toMatchObject([{ at: "web/x.tsx:2" }]);
  });

  it.each([
    // Each start costs as much as the rest of the text.
    ["/a*$/", "is polynomial"],
    [String.raw`/\s+$/g`, "is polynomial"],
    [String.raw`/\(.*\)/`, "is polynomial"],
    ["/^a*a*$/", "is polynomial"],
    [String.raw`/[;,]\s*$|\s+x/`, "is polynomial"],
    // The one that took a minute of CPU.
    [String.raw`/\s[-–/]\s[^\p{Script=Latin}]*\p{L}[^\p{Script=Latin}]*$/u`, "is polynomial"],
    ["/^(a+)+$/", "is exponential"],
    ["/^(?:a|a)*$/", "is exponential"],
    [String.raw`/(a+)\1/`, "cannot be analyzed"],
    ["/a(?!b+$)/", "cannot be analyzed"],
    ['new RegExp("a")', "is put together at run time"],
  ])("objects to %s", async (code, objection) => {
    const [verdict] = await analyzeCode(code);
    expect(verdict?.objection).toContain(objection);
  });

  it.each(["/^a*$/", "/a+/g", String.raw`/^[^\p{L}]*\p{L}{2,4}$/u`])(
    "takes %s for linear",
    async (code) => {
      expect(await analyzeCode(code)).toMatchObject([{ objection: null }]);
    },
  );

  it("lets an exception through, and no other", async () => {
    const verdicts = await analyzeCode("f(/a*$/, /b*$/);");
    expect(findProblems(verdicts, { "/a*$/": "Short." })).toEqual([
      expect.stringMatching(/^src\/x\.ts:1: \/b\*\$\/ is polynomial over /),
    ]);
  });

  it("names an exception that is not needed any more", async () => {
    expect(findProblems(await analyzeCode("f(/a/);"), { "/a/": "Short." })).toEqual([
      "the exception for /a/ is not needed any more",
    ]);
  });
});
