import { readFileSync } from "node:fs";
import { parse } from "smol-toml";
import manifest from "../data/snapshot/manifest.json" with { type: "json" };
import { checkSettings, SECRET_NAMES } from "../src/monitor/settings.ts";

interface Vars {
  readonly [name: string]: unknown;
}

interface Section {
  readonly vars?: Vars;
  readonly assets?: unknown;
}

/** Wrangler checks the rest of the file itself. */
interface RawConfig extends Section {
  readonly env?: { readonly [name: string]: Section };
}

type Binding = { [Name in keyof Env]: Env[Name] extends string ? never : Name }[keyof Env];

/** The bindings that the Worker needs. Wrangler deploys it without one, and it fails. */
const BINDINGS: { readonly [name in Binding]: true } = {
  ALERTS: true,
  ARCHIVE: true,
  ASSETS: true,
  AUTH_FAILURES: true,
  BACKUPS: true,
  CATALOG: true,
  COORDINATOR: true,
  HISTORY: true,
  VERSION: true,
};

/** Describes the problems of the settings of each environment in wrangler's configuration, one line each. */
export function checkVars(config = "wrangler.toml"): readonly string[] {
  const read = readConfig(config);
  if (typeof read === "string") return [`${config}: ${read}`];
  const { vars, env = {} } = read;
  const blocks = [
    ["[vars]", vars] as const,
    ...Object.entries(env).map(([name, { vars: own }]) => [`[env.${name}.vars]`, own] as const),
  ];
  return blocks.flatMap(([block, settings = {}]) =>
    [
      ...checkSettings(settings, manifest.locales),
      ...SECRET_NAMES.filter((name) => Object.hasOwn(settings, name)).map(
        (name) => `${name} is a secret: npx wrangler secret put ${name}`,
      ),
    ].map((problem) => `${block} in ${config}: ${problem}`),
  );
}

/** Names the bindings that an environment lacks, a line each. */
export function checkBindings(config = "wrangler.toml"): readonly string[] {
  const read = readConfig(config);
  if (typeof read === "string") return [];
  const { env = {}, ...production } = read;
  // An environment inherits only the binding of the assets.
  const { assets } = production;
  const sections = [
    ["", production] as const,
    ...Object.entries(env).map(([name, own]) => [`[env.${name}] in `, { assets, ...own }] as const),
  ];
  return sections.flatMap(([where, section]) => {
    const names = new Set(bindingsOf(section));
    return Object.keys(BINDINGS)
      .filter((name) => !names.has(name))
      .map((name) => `${where}${config}: the binding ${name} is missing`);
  });
}

/** The values of all keys that name a binding, and of some other keys. */
function bindingsOf(section: unknown): unknown[] {
  if (typeof section !== "object" || section === null) return [];
  return Object.entries(section).flatMap(([key, value]) =>
    key === "binding" || key === "name" ? [value] : bindingsOf(value),
  );
}

/** Describes the problem of a file that is not TOML, with its place. */
function readConfig(config: string): RawConfig | string {
  try {
    return parse(readFileSync(config, "utf8"));
  } catch (error) {
    if (error instanceof Error) return error.message;
    throw error;
  }
}
