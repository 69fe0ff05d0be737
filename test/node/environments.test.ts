import { readFileSync } from "node:fs";
import { experimental_readRawConfig } from "wrangler";
import { describe, expect, it } from "vitest";
import manifest from "../../data/snapshot/manifest.json" with { type: "json" };
import { checkSettings, ENVIRONMENTS, readTarget } from "../../scripts/deploy-target.ts";
import { SETTING_NAMES } from "../../scripts/setting-names.ts";

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
  "workers_dev",
  "preview_urls",
  "rules",
  "migrations",
  "triggers",
  "limits",
  "observability",
  "assets",
  "build",
];

/** Names of what each environment has for itself; bindings have the same names in all. */
const OWN_NAMES = ["bucket_name", "database_name", "namespace_id"];

interface Section {
  readonly [key: string]: unknown;
}

const raw = experimental_readRawConfig({ config: "wrangler.toml" }).rawConfig as Section & {
  readonly env: { readonly [name: string]: Section };
}; // wrangler itself checks it, in the build

function withoutOwnNames(section: unknown): unknown {
  if (Array.isArray(section)) return section.map(withoutOwnNames);
  if (typeof section !== "object" || section === null) return section;
  const entries = Object.entries(section).filter(([key]) => !OWN_NAMES.includes(key));
  return Object.fromEntries(entries.map(([key, value]) => [key, withoutOwnNames(value)]));
}

const { env, ...top } = raw;

describe.each(ENVIRONMENTS)("the environment %s of wrangler.toml", (environment) => {
  const own = env[environment] ?? {};

  it("repeats each binding and secret of the top level, and sets what differs", () => {
    const repeated = Object.keys(top).filter((key) => !INHERITED.includes(key) && key !== "name");
    expect(Object.keys(own).toSorted()).toEqual(["name", "vars", ...repeated].toSorted());
    for (const key of repeated)
      expect(withoutOwnNames(own[key])).toEqual(withoutOwnNames(top[key]));
  });

  it("publishes every locale from upstream, compressed as hard as there is", () => {
    const { config } = readTarget(environment);
    expect(config).toMatchObject({ source: "ourairports", compression: "best" });
    expect(config.locales).toHaveLength(manifest.locales.length);
    expect(own["vars"]).toEqual(env["production"]?.["vars"]);
  });
});

it("a setting that nobody knows, or with a wrong value, is refused before a deployment", () => {
  const check = (vars: object) => () => checkSettings("staging", { ...vars });
  expect(check({ LOCALE: "all" })).toThrow(
    "[env.staging.vars] in wrangler.toml: there is no LOCALE",
  );
  expect(check({ LOCALES: "tlh" })).toThrow('LOCALES names "tlh"');
});

it("docs/deploying.md lists each setting, but for those of the alerts", () => {
  const page = readFileSync("docs/deploying.md", "utf8");
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` +\|/gm)].map(([, name = ""]) => name);
  const others = SETTING_NAMES.filter((name) => !name.startsWith("ALERT_"));
  expect(new Set(rows)).toEqual(new Set(others));
});

it("each environment has a Worker and stores of its own", () => {
  const names = ENVIRONMENTS.flatMap((environment) => {
    const { workerName, namespaceTitle, databaseName, bucketNames } = readTarget(environment);
    return [workerName, namespaceTitle, databaseName, ...bucketNames];
  });
  expect(new Set(names).size).toBe(names.length);
});

it("there are no environments besides those that can be deployed", () => {
  expect(Object.keys(env).toSorted()).toEqual([...ENVIRONMENTS].toSorted());
});
