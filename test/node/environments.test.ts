import { experimental_readRawConfig } from "wrangler";
import { describe, expect, it } from "vitest";
import { ENVIRONMENTS, readTarget } from "../../scripts/deploy-target.ts";

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
const OWN_NAMES = ["bucket_name", "database_name", "namespace_id", "COMPRESSION"];

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
/** What each environment is to have: every locale, where `npm start` publishes few, to be quick. */
const wanted: Section = { ...top, vars: { ...(top["vars"] as Section), LOCALES: "all" } };

describe.each(ENVIRONMENTS)("the environment %s of wrangler.toml", (environment) => {
  const own = env[environment] ?? {};

  it("repeats each binding, variable and secret of the top level, but publishes every locale", () => {
    const repeated = Object.keys(top).filter((key) => !INHERITED.includes(key) && key !== "name");
    expect(Object.keys(own).toSorted()).toEqual(["name", ...repeated].toSorted());
    for (const key of repeated)
      expect(withoutOwnNames(own[key])).toEqual(withoutOwnNames(wanted[key]));
  });

  it("compresses as hard as there is, which the top level does not", () => {
    expect(own["vars"]).toMatchObject({ COMPRESSION: "best" });
    expect(top["vars"]).toMatchObject({ COMPRESSION: "fast" });
  });

  it("can be read and has settings that the Worker accepts", () => {
    expect(readTarget(environment).config.locales).toContain("en");
  });
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
