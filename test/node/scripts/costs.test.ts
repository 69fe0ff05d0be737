import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { costSummary, costTable, requestCosts } from "../../../scripts/costs.ts";

/** A Markdown text without what only aligns it. */
function cells(markdown: string): string {
  return markdown
    .replaceAll(/[ -]+/g, " ")
    .replaceAll(/ ?([|:]) ?/g, "$1")
    .trim();
}

describe("the costs in docs/platform.md", () => {
  it("match those that the script computes", () => {
    const [, stated = ""] =
      /<!-- costs: begin -->([^]*)<!-- costs: end -->/.exec(
        readFileSync("docs/platform.md", "utf8"),
      ) ?? [];
    expect(cells(stated)).toBe(cells(costSummary()));
  });

  it("end with their sum", () => {
    const lines = [
      { what: "a", count: 1_000_000, price: "request" },
      { what: "b", count: 3_000_000, price: "objectRequest" },
    ] as const;
    expect(costTable("x", lines).split("\n").at(-1)).toBe("| **sum** | | | **0.750** |");
  });

  it("charge 30 cents for a million requests, as published", () => {
    expect(costTable("x", requestCosts())).toContain("| requests | 1,000,000 | 0.3 | 0.300 |");
  });
});
