import { readFileSync } from "node:fs";
import { parse, TomlError } from "smol-toml";
import manifest from "../data/snapshot/manifest.json" with { type: "json" };
import { checkSettings, SECRET_NAMES } from "../src/monitor/settings.ts";

interface Vars {
  readonly [name: string]: unknown;
}

/** Wrangler checks the rest of the file itself. */
interface RawConfig {
  readonly vars?: Vars;
  readonly env?: { readonly [name: string]: { readonly vars?: Vars } };
}

/** Says what is wrong with the settings of each environment in a configuration of wrangler, a line each. */
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

/** Returns what is wrong with a file that is not TOML, and where. */
function readConfig(config: string): RawConfig | string {
  try {
    return parse(readFileSync(config, "utf8"));
  } catch (error) {
    if (error instanceof TomlError) return error.message;
    throw error;
  }
}
