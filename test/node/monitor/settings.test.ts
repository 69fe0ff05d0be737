/** Every setting, with values right and wrong, wherever it may be set. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import manifest from "../../../data/snapshot/manifest.json" with { type: "json" };
import { checkVars } from "../../../scripts/wrangler-vars.ts";
import {
  checkSettings,
  SECRET_NAMES,
  SETTING_NAMES,
  settingsOf,
} from "../../../src/monitor/settings.ts";
import { SETTING_VALUES } from "../../builders/hostile-values.ts";

const rows = (kind: "valid" | "wrong") =>
  Object.entries(SETTING_VALUES).flatMap(([name, values]) =>
    values[kind].map((value): [string, string] => [name, value]),
  );
const isPublic = ([name]: readonly [string, string]) => !SECRET_NAMES.includes(name);

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "locations-settings-"))));
afterAll(() => rmSync(folder, { recursive: true }));

/** What the build step says of a wrangler.toml with this text. */
function problemsOfFile(text: string): readonly string[] {
  const file = join(folder, "wrangler.toml");
  writeFileSync(file, text);
  return checkVars(file).map((problem) => problem.replace(file, "wrangler.toml"));
}

it("the table has every setting", () => {
  expect(Object.keys(SETTING_VALUES).toSorted()).toEqual(
    [...SETTING_NAMES, ...SECRET_NAMES].toSorted(),
  );
});

it("a file that is not TOML is refused with the place of the fault", () => {
  const [problem = "", ...others] = problemsOfFile('[vars]\nSOURCE = = "dropped"\n');
  expect(problem).toMatch(/^wrangler\.toml: Invalid TOML document/);
  expect(problem).toContain('2:  SOURCE = = "dropped"');
  expect(others).toEqual([]);
});

describe("a right value", () => {
  it.each(rows("valid"))("passes at a start: %s of “%.60s”", (name, value) => {
    expect(checkSettings({ [name]: value }, manifest.locales)).toEqual([]);
  });

  it.each(rows("valid").filter(isPublic))("passes the build: %s of “%.60s”", (name, value) => {
    expect(problemsOfFile(`[vars]\n${name} = ${JSON.stringify(value)}`)).toEqual([]);
  });
});

describe("a wrong value", () => {
  it.each(rows("wrong"))("is named: %s of “%.60s”", (name, value) => {
    expect(checkSettings({ [name]: value }, manifest.locales).join()).toContain(name);
  });

  it.each(rows("wrong").filter(isPublic))(
    "is refused by the build in each block that has it: %s of “%.60s”",
    (name, value) => {
      const line = `${name} = ${JSON.stringify(value)}`;
      const problems = problemsOfFile(`[vars]\n${line}\n[env.a.vars]\n[env.b.vars]\n${line}`);
      expect(problems).toEqual([
        expect.stringMatching(/^\[vars\] in wrangler\.toml: /),
        expect.stringMatching(/^\[env\.b\.vars\] in wrangler\.toml: /),
      ]);
      for (const problem of problems) expect(problem).toContain(name);
    },
  );

  it.each([5, true, ["en"], { a: 1 }, null])("is also what is no text: %j", (value) => {
    for (const name of Object.keys(SETTING_VALUES)) {
      expect(checkSettings({ [name]: value }, manifest.locales)).toContain(
        `${name} must be text, in quotes`,
      );
    }
  });
});

describe("a name that no setting has", () => {
  it("is refused by the build, also if its value is no text", () => {
    expect(problemsOfFile('[vars]\nLOCALE = "all"\n[env.b.vars]\nMORE = { a = 1 }')).toEqual([
      "[vars] in wrangler.toml: there is no setting LOCALE",
      "[env.b.vars] in wrangler.toml: there is no setting MORE",
    ]);
  });

  it("is found among the bindings of the Worker", () => {
    const bindings = {
      CATALOG: {},
      __TOOL: "1",
      VERSION: { id: "" },
      ALERT_DATA_OLD: "1",
      SOURCE: "embedded",
    };
    expect(settingsOf(bindings)).toEqual({ ALERT_DATA_OLD: "1", SOURCE: "embedded" });
  });
});

it.each(SECRET_NAMES)(
  "the build refuses the secret %s in the file, and says how to set it",
  (name) => {
    expect(problemsOfFile(`[vars]\n${name} = "[]"`).join("\n")).toContain(
      `[vars] in wrangler.toml: ${name} is a secret: npx wrangler secret put ${name}`,
    );
  },
);

/** They are checked with another setting, which must itself be valid. */
const OF_PAIRS = ["DEFAULT_LOCALE", "ACCESS_AUD"];

const WRANGLER = "node_modules/wrangler/bin/wrangler.js";

describe("the commands", () => {
  const worst = Object.entries(SETTING_VALUES).flatMap(([name, { wrong }]) =>
    wrong.length === 0 || OF_PAIRS.includes(name) ? [] : [[name, wrong[0] ?? ""] as const],
  );
  const run = (script: string, ...args: readonly string[]) =>
    spawnSync(process.execPath, [resolve(script), ...args], { cwd: folder, encoding: "utf8" });

  it("the build of the pages ends with 1 and a line for each wrong block", () => {
    writeFileSync(
      join(folder, "wrangler.toml"),
      '[vars]\nSOURCE = "x"\n[env.a.vars]\nLOCALE = ""\n',
    );
    const { status, stderr } = run("web/build/build.ts");
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^\[vars\] in wrangler\.toml: SOURCE .*\n\[env\.a\.vars\] in .* no setting LOCALE\n/,
    );
    expect(stderr).not.toContain("    at ");
  });

  it("a deployment shows the wrong line, and little else", () => {
    const [, command = ""] =
      /^command = "(.*)"$/m.exec(readFileSync("wrangler.toml", "utf8")) ?? [];
    const build = command.replace(/\S+\.ts$/, (file) => resolve(file));
    const head = 'name = "wrong"\nmain = "none.ts"\ncompatibility_date = "2026-10-20"\n';
    writeFileSync(
      join(folder, "wrangler.toml"),
      `${head}[build]\ncommand = "${build}"\n[vars]\nSOURCE = "x"\n`,
    );
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [resolve(WRANGLER), "deploy", "--dry-run"],
      { cwd: folder, encoding: "utf8", env: { ...process.env, WRANGLER_LOG: "log" } },
    );
    expect(status).toBe(1);
    expect(stdout + stderr).toContain("SOURCE must be one of");
    expect((stdout + stderr).split("\n").length).toBeLessThan(40);
  });

  it("npm start names everything that is wrong, and shows no secret", () => {
    const vars = worst.map(([name, value]) => `--var=${name}=${value}`);
    const { status, stdout, stderr } = run("scripts/start.ts", ...vars);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    for (const [name] of worst) expect(stderr).toMatch(new RegExp(`\\b${name} `));
    expect(stderr).not.toContain("    at ");
  });

  it("npm start takes what is right, and goes on to its port", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const right = Object.entries(SETTING_VALUES).map(
      ([name, { valid }]) => `--var=${name}=${valid.at(-1)}`,
    );
    const { stderr } = run("scripts/start.ts", `--port=${port}`, ...right);
    expect(stderr).toContain(`Port ${port} is taken`);
    server.close();
  });
});

/** A problem of these repeats the locales that are unknown. */
const SHOWN = ["LOCALES", "DEFAULT_LOCALE"];

it("no problem repeats a secret", () => {
  const secret = "hidden-hidden-hidden";
  const others = Object.keys(SETTING_VALUES).filter((name) => !SHOWN.includes(name));
  for (const name of others)
    for (const value of [
      secret,
      `https://me:${secret}@a.example/1,https://a.example/2`,
      JSON.stringify([{ name: "ops", kind: "slack", url: `ftp://${secret}/`, secret }]),
      JSON.stringify([{ name: "ops", kind: "slack", [secret]: 1 }]),
      JSON.stringify([{ id: "ops", sha256: secret, scopes: ["read"], [secret]: 1 }]),
    ])
      expect(checkSettings({ [name]: value }, manifest.locales).join()).not.toContain(secret);
});
