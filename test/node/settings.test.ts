/** Every setting, with values right and wrong, wherever it may be set. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import manifest from "../../data/snapshot/manifest.json" with { type: "json" };
import { checkVars } from "../../scripts/wrangler-vars.ts";
import { checkSettings, SECRET_NAMES, SETTING_NAMES, settingsOf } from "../../src/settings.ts";
import { digest } from "../builders/admin-tokens.ts";
import { MonitorWorld, resultOf } from "../builders/monitor-world.ts";
import { WEBHOOK_SECRET } from "../builders/webhook-receiver.ts";

interface Values {
  readonly valid: readonly string[];
  /** Nonsense, and just and far beyond what is possible. */
  readonly wrong: readonly string[];
}

const number = (min: number, max: number): Values => ({
  valid: [String(min), String(max)],
  wrong: [
    "",
    "14d",
    "1e9",
    " 5",
    "-1",
    ...(min > 0 ? [String(min - 1)] : []),
    String(max + 1),
    "9".repeat(20),
  ],
});

const MINUTE = 60_000;
const DAY = 86_400_000;
const HOOK = {
  name: "ops",
  kind: "slack",
  url: "https://example.org/hook",
  secret: WEBHOOK_SECRET,
};
const TOKEN = { id: "ops", sha256: digest("a-token"), scopes: ["read"] };
const json = (...list: readonly unknown[]) => JSON.stringify(list);

const VALUES: { readonly [setting: string]: Values } = {
  DEFAULT_LOCALE: { valid: ["en", "de"], wrong: ["", "tlh", "not a locale", "en,de"] },
  CACHE_MAX_BYTES: number(0, 75_497_472),
  MANIFEST_FRESH_MS: number(0, 3_600_000),
  LOCALES: { valid: ["all", "en", "de, en"], wrong: ["", "tlh", "en;de", "de", "en,"] },
  AIRPORTS: { valid: ["all", "scheduled"], wrong: ["", "large", "ALL"] },
  SOURCE: { valid: ["embedded", "ourairports", "dropped"], wrong: ["", "openflights"] },
  SOURCE_URLS: {
    valid: ["https://a.example/airports.csv,https://a.example/regions.csv"],
    wrong: ["", "https://a.example/1", "https://a.example/1,ftp://a.example/2", "1,2"],
  },
  SOURCE_ALLOWED_HOSTS: { valid: ["", "cdn.example, b.example:8443"], wrong: [] },
  SOURCE_MAX_BYTES: number(1_048_576, 33_554_432),
  COMPRESSION: { valid: ["fast", "best"], wrong: ["", "11"] },
  SURPRISE_HOLD_MS: number(0, 30 * DAY),
  SURPRISE_UNLISTED_PERCENT: number(1, 100),
  ALERT_CATALOG_STALE_MS: number(1_000, 90 * DAY),
  ALERT_DATA_OLD_MS: number(DAY, 3_650 * DAY),
  ALERT_INGEST_FAILING_RUNS: number(1, 20),
  ALERT_INGEST_STUCK_MS: number(MINUTE, DAY),
  ALERT_INGEST_PAUSED_MS: number(MINUTE, 90 * DAY),
  ALERT_CHANGES_HELD_MS: number(MINUTE, 90 * DAY),
  ALERT_QUEUE_BACKLOG_RUNS: number(1, 10),
  ALERT_OUTBOX_BACKLOG_ROWS: number(1, 10_000),
  ALERT_COVERAGE_DROP_POINTS: number(1, 100),
  ALERT_BACKUP_STALE_MS: number(MINUTE, 90 * DAY),
  ALERT_BACKUP_UNVERIFIED_MS: number(MINUTE, 90 * DAY),
  ALERT_NOTIFY_FAILING_EVALUATIONS: number(1, 100),
  ALERT_MONITOR_GAP_MS: number(MINUTE, 7 * DAY),
  ALERT_REPEAT_MS: number(MINUTE, 7 * DAY),
  ACCESS_TEAM_DOMAIN: { valid: [""], wrong: ["team", "https://team.example", "team.example"] },
  ACCESS_AUD: { valid: [""], wrong: ["a1b2"] },
  ACCESS_OPERATORS: { valid: ["", "ann@example.org"], wrong: [] },
  ADMIN_TOKENS: {
    valid: ["[]", json(TOKEN)],
    wrong: ["", "secret", "{}", json({ ...TOKEN, sha256: "secret" }), json(TOKEN, null)],
  },
  ALERT_WEBHOOKS: {
    valid: ["[]", json(HOOK)],
    wrong: ["", "https://example.org", "{}", json({ ...HOOK, kind: "pager" }), json(HOOK, HOOK)],
  },
  ALERT_PING_URL: { valid: ["https://example.org/ping"], wrong: ["", "ping", "ftp://example.org"] },
};

const rows = (kind: keyof Values) =>
  Object.entries(VALUES).flatMap(([name, values]) =>
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

/** An evaluation with a setting that the Worker has got, however. */
async function evaluateWith(settings: object) {
  const world = new MonitorWorld(settings);
  return resultOf(await world.tick(), "settings_wrong");
}

it("the table has every setting", () => {
  expect(Object.keys(VALUES).toSorted()).toEqual([...SETTING_NAMES, ...SECRET_NAMES].toSorted());
});

describe("a right value", () => {
  it.each(rows("valid"))("passes at a start and in the Worker: %s of “%s”", async (name, value) => {
    const settings = { [name]: value };
    expect(checkSettings(settings, manifest.locales)).toEqual([]);
    expect(await evaluateWith(settings)).toMatchObject({ status: "pass" });
  });

  it.each(rows("valid").filter(isPublic))("passes the build: %s of “%s”", (name, value) => {
    expect(problemsOfFile(`[vars]\n${name} = ${JSON.stringify(value)}`)).toEqual([]);
  });
});

describe("a wrong value", () => {
  it.each(rows("wrong"))("is named, and stops no evaluation: %s of “%s”", async (name, value) => {
    const settings = { [name]: value };
    expect(checkSettings(settings, manifest.locales).join()).toContain(name);
    expect(await evaluateWith(settings)).toMatchObject({
      status: "warn",
      state: "firing",
      message: expect.stringContaining(name),
    });
  });

  it.each(rows("wrong").filter(isPublic))(
    "is refused by the build in each block that has it: %s of “%s”",
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

  it.each([5, true, ["en"], { a: 1 }, null])("is also what is no text: %j", async (value) => {
    for (const name of Object.keys(VALUES)) {
      const settings = { [name]: value };
      expect(checkSettings(settings, manifest.locales)).toContain(
        `${name} must be text, in quotes`,
      );
      expect(await evaluateWith(settings)).toMatchObject({ status: "warn" });
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

/** They are judged with another setting, which must be right itself. */
const OF_PAIRS = ["DEFAULT_LOCALE", "ACCESS_AUD"];

describe("the commands", () => {
  const worst = Object.entries(VALUES).flatMap(([name, { wrong }]) =>
    wrong.length === 0 || OF_PAIRS.includes(name) ? [] : [[name, wrong[0] ?? ""] as const],
  );
  const run = (script: string, ...args: readonly string[]) =>
    spawnSync(process.execPath, [resolve(script), ...args], { cwd: folder, encoding: "utf8" });

  it("build-web.ts ends with 1 and a line for each wrong block", () => {
    writeFileSync(
      join(folder, "wrangler.toml"),
      '[vars]\nSOURCE = "x"\n[env.a.vars]\nLOCALE = ""\n',
    );
    const { status, stderr } = run("scripts/build-web.ts");
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^\[vars\] in wrangler\.toml: SOURCE .*\n\[env\.a\.vars\] in .* no setting LOCALE\n/,
    );
    expect(stderr).not.toContain("    at ");
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
    const right = Object.entries(VALUES).map(
      ([name, { valid }]) => `--var=${name}=${valid.at(-1)}`,
    );
    const { stderr } = run("scripts/start.ts", `--port=${port}`, ...right);
    expect(stderr).toContain(`Port ${port} is taken`);
    server.close();
  });
});

it("no problem repeats a secret", () => {
  const secret = "hidden-hidden-hidden";
  for (const name of Object.keys(VALUES))
    for (const value of [
      secret,
      `https://me:${secret}@a.example/1,https://a.example/2`,
      json({ ...HOOK, url: `ftp://${secret}/`, secret }),
      json({ ...HOOK, [secret]: 1 }),
      json({ ...TOKEN, [secret]: 1 }),
      json({ ...TOKEN, sha256: secret }),
    ])
      if (!["LOCALES", "DEFAULT_LOCALE"].includes(name))
        expect(checkSettings({ [name]: value }, manifest.locales).join()).not.toContain(secret);
});
