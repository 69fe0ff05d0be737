import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LIMIT_SETTINGS } from "../../../src/health/limits.ts";
import { RULES } from "../../../src/health/rules.ts";

const root = join(import.meta.dirname, "../../..");
const page = readFileSync(join(root, "docs/alerts.md"), "utf8");

describe("docs/alerts.md", () => {
  it("has exactly one section for each rule, in the order of its table", () => {
    const names = Object.keys(RULES);
    const sections = [...page.matchAll(/^### `(\w+)`$/gm)].map(([, name]) => name);
    const rows = [...page.matchAll(/^\| `(\w+)` +\| (warn|fail) /gm)];
    expect(sections).toEqual(names);
    expect(rows.map(([, name, severity]) => [name, severity])).toEqual(
      Object.entries(RULES).map(([name, { severity }]) => [name, severity]),
    );
  });

  it("names each setting of the alerts", () => {
    expect(LIMIT_SETTINGS.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
