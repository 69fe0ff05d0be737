import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { experimental_readRawConfig, unstable_readConfig } from "wrangler";
import { describe, expect, it } from "vitest";
import manifest from "../../data/snapshot/manifest.json" with { type: "json" };
import { LOCAL_SETTINGS } from "../../scripts/local-settings.ts";
import { loadConfig } from "../../src/ingest/config.ts";
import { readCredentials } from "../../src/platform/credentials.ts";
import { OTHER_ALERT_SETTINGS } from "../../src/monitor/alert-settings.ts";
import { SETTING_NAMES } from "../../src/monitor/settings.ts";

/**
 * What wrangler takes over from the top of wrangler.toml into an environment; everything else must
 * be repeated there, or the environment goes without.
 */
const INHERITED = [
  "$schema",
  "main",
  "compatibility_date",
  "compatibility_flags",
  "keep_names",
  "minify",
  "upload_source_maps",
  "preview_urls",
  "rules",
  "migrations",
  "triggers",
  "limits",
  "observability",
  "assets",
  "build",
];

/** Keys of the address, which an environment has for itself. */
const ADDRESS = ["workers_dev", "routes"];

/** Keys of the names that an environment has for itself; bindings have the same names in all. */
const OWN_NAMES = ["bucket_name", "database_name", "namespace_id"];
/** Settings that an environment behind Cloudflare Access has for itself. */
const OWN_SETTINGS = ["ACCESS_AUD", "ACCESS_TEAM_DOMAIN", "ACCESS_OPERATORS", "SERVICE_URL"];

interface Section {
  readonly [key: string]: unknown;
}

const raw = experimental_readRawConfig({ config: "wrangler.toml" }).rawConfig as Section & {
  readonly env: { readonly [name: string]: Section };
}; // wrangler itself checks it, in the build

function withoutOwn(section: unknown): unknown {
  if (Array.isArray(section)) return section.map(withoutOwn);
  if (typeof section !== "object" || section === null) return section;
  const own = [...OWN_NAMES, ...OWN_SETTINGS];
  const entries = Object.entries(section).filter(([key]) => !own.includes(key));
  return Object.fromEntries(entries.map(([key, value]) => [key, withoutOwn(value)]));
}

/** All values of these keys, in a section and those below it. */
function valuesOf(section: unknown, keys: readonly string[]): unknown[] {
  if (typeof section !== "object" || section === null) return [];
  return Object.entries(section).flatMap(([key, value]) =>
    keys.includes(key) ? [value] : valuesOf(value, keys),
  );
}

const { env, ...production } = raw;
const staging = env["staging"] ?? {};

describe("the environment staging of wrangler.toml", () => {
  it("repeats each binding, setting and secret of production, with stores of its own", () => {
    const notOwn = (key: string) => !INHERITED.includes(key) && !ADDRESS.includes(key);
    const repeated = Object.keys(production).filter(notOwn);
    expect(Object.keys(staging).toSorted()).toEqual([...repeated, ...ADDRESS].toSorted());
    for (const key of repeated.filter((name) => name !== "name"))
      expect(withoutOwn(staging[key])).toEqual(withoutOwn(production[key]));
    const ownNames = [production, staging].flatMap((section) => [
      section["name"],
      ...valuesOf(section, OWN_NAMES),
    ]);
    expect(ownNames).toHaveLength(10);
    expect(new Set(ownNames).size).toBe(ownNames.length);
  });

  it("has no other environment beside it", () => {
    expect(Object.keys(env)).toEqual(["staging"]);
  });
});

it("production and staging publish every locale from upstream, compressed as hard as there is", () => {
  for (const environment of [undefined, "staging"] as const) {
    const { vars } = unstable_readConfig({ config: "wrangler.toml", env: environment });
    const { config } = loadConfig(vars, manifest.locales);
    expect(config).toMatchObject({ source: "ourairports", compression: "best" });
    expect(config.locales).toHaveLength(manifest.locales.length);
  }
});

it(".dev.vars.example has this machine's settings", () => {
  const lines = readFileSync(".dev.vars.example", "utf8").split("\n");
  const settings = lines.flatMap((line) => /^([A-Z_]+)=([^']*)$/.exec(line)?.slice(1, 3) ?? []);
  expect(settings).toEqual(Object.entries(LOCAL_SETTINGS).flat());
});

it(".dev.vars.example has a secret that the Worker accepts, and names its token", () => {
  const file = readFileSync(".dev.vars.example", "utf8");
  const [, ADMIN_TOKENS] = /^ADMIN_TOKENS='(.*)'$/m.exec(file) ?? [];
  const [, token = ""] = /token, "(\S+)"/.exec(file) ?? [];
  const sha256 = createHash("sha256").update(token).digest("hex");
  expect(readCredentials({ ADMIN_TOKENS })).toMatchObject({
    problem: null,
    credentials: { tokens: [{ id: "local", sha256 }] },
  });
});

it("services in one account, such as production and staging, do not count failed logins together", () => {
  const ids = [production, ...Object.values(env)].flatMap((section) =>
    valuesOf(section, ["namespace_id"]),
  );
  expect(new Set(ids).size).toBe(1 + Object.keys(env).length);
});

it("nothing but failed logins is limited in number", () => {
  const limits = [production, ...Object.values(env)].map((section) => section["ratelimits"]);
  expect(limits.flatMap((limit) => valuesOf(limit, ["name"]))).toEqual(
    limits.map(() => "AUTH_FAILURES"),
  );
});

it("git ignores what the documented commands leave behind", () => {
  const ignored = readFileSync(".gitignore", "utf8").split("\n");
  for (const file of ["/secrets.json", "/worker-startup.cpuprofile"])
    expect(ignored).toContain(file);
});

it("docs/deploying.md lists each setting, but for those of the alerts", () => {
  const page = readFileSync("docs/deploying.md", "utf8");
  const rows = [...page.matchAll(/^- `([A-Z_]+)`/gm)].map(([, name = ""]) => name);
  const ofAlerts: readonly string[] = OTHER_ALERT_SETTINGS;
  const others = SETTING_NAMES.filter(
    (name) => !name.startsWith("ALERT_") && !ofAlerts.includes(name),
  );
  expect(new Set(rows)).toEqual(new Set(others));
});
