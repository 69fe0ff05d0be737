import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let clone: string;
beforeAll(() => void (clone = mkdtempSync(join(tmpdir(), "locations-clone-"))));
afterAll(() => rmSync(clone, { recursive: true }));

/** What the build writes for a command of wrangler, in a clone that has nothing to be built. */
function build(env: { readonly [name: string]: string }): string {
  const others = { ...process.env };
  for (const name of ["CI", "ADMIN_TOKENS", "WRANGLER_COMMAND"])
    Reflect.deleteProperty(others, name);
  const options = { cwd: clone, env: { ...others, ...env }, encoding: "utf8" } as const;
  return spawnSync(process.execPath, [resolve("scripts/build-web.ts")], options).stderr;
}

describe("the build of the pages", () => {
  const dev = { WRANGLER_COMMAND: "dev" };
  const ADVICE = "cp .dev.vars.example .dev.vars";

  it("says what a bare wrangler dev needs in a fresh clone, and nothing to others", () => {
    expect(build(dev)).toContain(ADVICE);
    expect(build({ WRANGLER_COMMAND: "deploy" })).not.toContain(ADVICE);
    expect(build({ ...dev, CI: "1" })).not.toContain(ADVICE);
    expect(build({ ...dev, ADMIN_TOKENS: "[]" })).not.toContain(ADVICE);
    writeFileSync(join(clone, ".dev.vars"), "");
    expect(build(dev)).not.toContain(ADVICE);
  });
});
