import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { checkBindings } from "../../../scripts/wrangler-vars.ts";

const folder = mkdtempSync(join(tmpdir(), "locations-bindings-"));
afterAll(() => rmSync(folder, { recursive: true }));

const text = readFileSync("wrangler.toml", "utf8");
/** Everything that the generated types say the Worker has, but settings and secrets. */
const bindings = /interface __BaseEnv_Env \{([^}]+)\}/
  .exec(readFileSync("gen/env.d.ts", "utf8"))?.[1]
  ?.matchAll(/(\w+): (?!string)/g);
const names = [...(bindings ?? [])].map(([, name = ""]) => name);

it("wrangler.toml has every binding, also of staging", () => {
  expect(names).toHaveLength(9);
  expect(checkBindings()).toEqual([]);
});

it.each(names)("a wrangler.toml without %s is refused for each environment", (name) => {
  const file = join(folder, "wrangler.toml");
  writeFileSync(file, text.replaceAll(`"${name}"`, '"OTHER"'));
  expect(checkBindings(file)).toEqual([
    `${file}: the binding ${name} is missing`,
    `[env.staging] in ${file}: the binding ${name} is missing`,
  ]);
});
