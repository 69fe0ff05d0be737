import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { advice, MAY_UPLOAD } from "../../../scripts/wrangler-command.ts";
import { readCredentials } from "../../../src/credentials.ts";

const without = () => false;

describe("the build of a wrangler command", () => {
  it.each(["deploy", "versions upload"])("refuses a bare “%s”", (WRANGLER_COMMAND) => {
    expect(advice({ WRANGLER_COMMAND })).toMatchObject({ refused: true });
    expect(advice({ WRANGLER_COMMAND, ...MAY_UPLOAD })).toBeUndefined();
  });

  it("says in a fresh clone what to run first", () => {
    const dev = { WRANGLER_COMMAND: "dev" };
    expect(advice(dev, without)?.text).toContain("cp .dev.vars.example .dev.vars");
    expect(advice(dev, without)?.refused).toBe(false);
    expect(advice(dev, (name) => name === ".dev.vars")).toBeUndefined();
    expect(advice({ ...dev, ADMIN_TOKENS: "[]" }, without)).toBeUndefined();
    expect(advice({ ...dev, CI: "1" }, without)).toBeUndefined();
  });

  it.each(["types", undefined])("prints nothing for “%s”", (WRANGLER_COMMAND) => {
    expect(advice({ WRANGLER_COMMAND }, without)).toBeUndefined();
  });

  it("fails before anything is built or uploaded", () => {
    const env = { ...process.env, WRANGLER_COMMAND: "deploy" };
    const { status, stderr } = spawnSync(process.execPath, ["scripts/build-web.ts"], {
      env,
      encoding: "utf8",
    });
    expect(status).toBe(1);
    expect(stderr).toContain("npm run deploy");
  });
});

it(".dev.vars.example has a secret that the Worker accepts, and names its token", () => {
  const file = readFileSync(".dev.vars.example", "utf8");
  const [, ADMIN_TOKENS] = /^ADMIN_TOKENS='(.*)'$/m.exec(file) ?? [];
  const [, token = ""] = /token, "(\S+)"/.exec(file) ?? [];
  const sha256 = createHash("sha256").update(token).digest("hex");
  expect(readCredentials({ ADMIN_TOKENS })).toMatchObject({
    ok: true,
    credentials: { tokens: [{ id: "local", sha256 }] },
  });
});
