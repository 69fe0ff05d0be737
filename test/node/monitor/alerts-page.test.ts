import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  LIMIT_SETTINGS,
  OTHER_ALERT_SETTINGS,
  SECRET_ALERT_SETTINGS,
  WEBHOOK_KINDS,
} from "../../../src/monitor/alert-settings.ts";
import { RULES } from "../../../src/monitor/rules.ts";

const root = join(import.meta.dirname, "../../..");
const page = readFileSync(join(root, "docs/alerts.md"), "utf8");

describe("docs/alerts.md", () => {
  it("has exactly one section for each rule, in their order, which starts with its severity", () => {
    const sections = [...page.matchAll(/^### `(\w+)`\n\n\*\*(\w+)\*\*/gm)];
    expect(sections.map(([, name, severity]) => [name, severity])).toEqual(
      Object.entries(RULES).map(([name, { severity }]) => [name, severity]),
    );
  });

  it("names each setting of the alerts, and each kind of webhook", () => {
    const settings = [...LIMIT_SETTINGS, ...OTHER_ALERT_SETTINGS, ...SECRET_ALERT_SETTINGS];
    const names = [...settings, ...WEBHOOK_KINDS];
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
