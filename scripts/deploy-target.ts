/** What wrangler.toml says of the service that is to be deployed. */
import { rmSync, writeFileSync } from "node:fs";
import { experimental_readRawConfig, unstable_readConfig } from "wrangler";
import manifest from "../data/snapshot/manifest.json" with { type: "json" };
import { type Config, loadConfig } from "../src/config.ts";
import { ConfigError } from "../src/serving-config.ts";
import { SETTING_NAMES } from "../src/settings.ts";
import { CommandError } from "./command.ts";

const CONFIG_FILE = "wrangler.toml";

export interface Target {
  /** Undefined for the top level of the file, which is production. */
  readonly environment: "staging" | undefined;
  readonly workerName: string;
  /** Wrangler's own name for a namespace that it makes, since the file names only the binding. */
  readonly namespaceTitle: string;
  /** Whether the file has a custom domain for it. */
  readonly hasDomain: boolean;
  readonly config: Config;
}

/** As wrangler reads it; the type of its result is lost in a package that it lacks. */
interface WranglerConfig {
  readonly name: string;
  readonly routes?: readonly ({ readonly custom_domain?: boolean } | string)[];
  readonly vars: { readonly [name: string]: unknown };
  readonly kv_namespaces: readonly [{ readonly binding: string }];
}

/**
 * Reads the file and checks its settings as the Worker would at its start.
 *
 * @throws CommandError that names a wrong setting.
 */
export function readTarget(environment: Target["environment"]): Target {
  const { name, routes, vars, kv_namespaces } = unstable_readConfig({
    config: CONFIG_FILE,
    env: environment,
  }) as WranglerConfig; // a test reads the file too, so that it has what this type says
  return {
    environment,
    workerName: name,
    namespaceTitle: `${name}-${kv_namespaces[0].binding.toLowerCase()}`,
    hasDomain: routes?.some((route) => typeof route === "object" && route.custom_domain) === true,
    config: checkSettings(vars),
  };
}

/**
 * Checks settings as the Worker would, and that each name is known.
 *
 * @throws CommandError
 */
export function checkSettings(vars: WranglerConfig["vars"]): Config {
  const unknown = Object.keys(vars).filter((name) => !SETTING_NAMES.includes(name));
  if (unknown.length > 0)
    throw new CommandError(
      `[vars] in ${CONFIG_FILE}: there is no ${unknown.join(", ")}. There are: ${SETTING_NAMES.join(", ")}`,
    );
  try {
    return loadConfig(vars, manifest.locales); // which checks each of them
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CommandError(`[vars] in ${CONFIG_FILE}: ${error.message}`);
  }
}

/** Calls with a copy of wrangler.toml that names the namespace of an environment by its id. */
export async function withNamespace<T>(
  { environment }: Target,
  id: string,
  use: (configFile: string) => Promise<T>,
): Promise<T> {
  const { rawConfig } = experimental_readRawConfig({ config: CONFIG_FILE });
  const copy = structuredClone(rawConfig) as WranglerConfig & {
    readonly env: { readonly staging: WranglerConfig };
  }; // `readTarget` has read the same file
  const [namespace] = (environment === undefined ? copy : copy.env[environment]).kv_namespaces;
  Object.assign(namespace, { id });
  // Beside the file, since its paths are relative.
  const configFile = `.wrangler-deploy-${process.pid}.json`;
  writeFileSync(configFile, JSON.stringify(copy));
  try {
    return await use(configFile);
  } finally {
    rmSync(configFile);
  }
}
