import { experimental_readRawConfig, unstable_readConfig } from "wrangler";
import manifest from "../data/snapshot/manifest.json" with { type: "json" };
import { type Config, loadConfig } from "../src/config.ts";
import { ConfigError } from "../src/serving-config.ts";
import { CommandError } from "./command.ts";
import { SETTING_NAMES } from "./setting-names.ts";

export const ENVIRONMENTS = ["production", "staging"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** Where the service is to be reached, unless it is where wrangler.toml says. */
export interface Address {
  readonly workersDev: boolean;
  readonly domain: string | undefined;
}

/** What wrangler.toml says of an environment, as far as a deployment needs it. */
export interface Target {
  readonly environment: Environment;
  readonly workerName: string;
  /** Wrangler's own name for a namespace that it makes, since the file names only the binding. */
  readonly namespaceTitle: string;
  readonly databaseName: string;
  readonly databaseBinding: string;
  readonly bucketNames: readonly string[];
  readonly routes: readonly Route[];
  readonly workersDev: boolean;
  readonly config: Config;
}

interface Route {
  readonly pattern: string;
  readonly custom_domain?: boolean;
}

/** An environment as wrangler reads it; the type of its result is lost in a package it lacks. */
interface EnvironmentConfig {
  readonly name: string;
  readonly workers_dev?: boolean;
  readonly routes?: readonly (Route | string)[];
  readonly vars: { readonly [name: string]: unknown };
  readonly kv_namespaces: readonly [{ readonly binding: string }];
  readonly r2_buckets: readonly { readonly bucket_name: string }[];
  readonly d1_databases: readonly [{ readonly binding: string; readonly database_name: string }];
}

const CONFIG_FILE = "wrangler.toml";

/**
 * Reads an environment and checks its settings as the Worker would at its start.
 *
 * @throws CommandError that names a wrong setting.
 */
export function readTarget(environment: Environment): Target {
  // A test reads the file too, so that it has what this type says.
  const config = unstable_readConfig({
    config: CONFIG_FILE,
    env: environment,
  }) as EnvironmentConfig;
  const { name, workers_dev, routes = [] } = config;
  const [namespace] = config.kv_namespaces;
  const [database] = config.d1_databases;
  return {
    environment,
    workerName: name,
    namespaceTitle: `${name}-${namespace.binding.toLowerCase().replaceAll("_", "-")}`,
    databaseName: database.database_name,
    databaseBinding: database.binding,
    bucketNames: config.r2_buckets.map(({ bucket_name }) => bucket_name),
    routes: routes.map((route) => (typeof route === "string" ? { pattern: route } : route)),
    workersDev: workers_dev === true,
    config: checkSettings(environment, config.vars),
  };
}

/**
 * Checks the settings of an environment as the Worker would, and that each name is known.
 *
 * @throws CommandError
 */
export function checkSettings(environment: Environment, vars: EnvironmentConfig["vars"]): Config {
  const unknown = Object.keys(vars).filter((name) => !SETTING_NAMES.includes(name));
  if (unknown.length > 0)
    throw new CommandError(
      `[env.${environment}.vars] in ${CONFIG_FILE}: there is no ${unknown.join(", ")}. There are: ${SETTING_NAMES.join(", ")}`,
    );
  try {
    return loadConfig(vars, manifest.locales); // which checks each of them
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CommandError(`[env.${environment}.vars] in ${CONFIG_FILE}: ${error.message}`);
  }
}

/** Ids of what an environment stores in. */
export interface Provisioned {
  readonly namespaceId: string;
  readonly databaseId: string;
}

/** The whole of wrangler.toml with what the file cannot know of one environment. */
export function completeConfig(target: Target, address: Address, ids?: Provisioned): object {
  const { rawConfig } = experimental_readRawConfig({ config: CONFIG_FILE });
  const { env = {} } = rawConfig as { readonly env?: { readonly [name: string]: object } };
  const own = env[target.environment] as EnvironmentConfig; // readTarget has read the same file
  const completed = {
    ...own,
    ...(ids !== undefined && {
      kv_namespaces: own.kv_namespaces.map((entry) => ({ ...entry, id: ids.namespaceId })),
      d1_databases: own.d1_databases.map((entry) => ({ ...entry, database_id: ids.databaseId })),
    }),
    // Elsewhere it stays closed: there Cloudflare Access in front of /admin could be walked around.
    workers_dev: address.workersDev || (address.domain === undefined && target.workersDev),
    ...(address.domain !== undefined && {
      routes: [{ pattern: address.domain, custom_domain: true }],
    }),
  };
  return { ...rawConfig, env: { ...env, [target.environment]: completed } };
}
