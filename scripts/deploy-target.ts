import { experimental_readRawConfig, unstable_readConfig } from "wrangler";
import manifest from "../data/snapshot/manifest.json" with { type: "json" };
import { type Config, ConfigError, loadConfig, type Settings } from "../src/config.ts";
import { DeployError } from "./deploy-error.ts";

export const ENVIRONMENTS = ["production", "staging"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** Where the service is to be reached. */
export type Address =
  | { readonly kind: "workers.dev" }
  | { readonly kind: "domain"; readonly domain: string }
  /** As wrangler.toml has it for this environment. */
  | { readonly kind: "configured" };

/** What wrangler.toml says of an environment, as far as the deployment needs it. */
export interface Target {
  readonly environment: Environment;
  readonly workerName: string;
  /** Wrangler's own name for a namespace that it makes, since the file names only the binding. */
  readonly namespaceTitle: string;
  readonly databaseName: string;
  readonly databaseBinding: string;
  readonly bucketNames: readonly string[];
  /** The host that its routes lead to; undefined where it has none, or only patterns. */
  readonly routedHost: string | undefined;
  /** The custom domains among its routes. */
  readonly routedDomains: readonly string[];
  /** Whether the file gives it a route or workers.dev. */
  readonly isReachable: boolean;
  readonly config: Config;
}

/** An environment as wrangler reads it, as far as it is needed here. */
interface EnvironmentConfig {
  readonly name?: string;
  readonly workers_dev?: boolean;
  readonly routes?: readonly Route[];
  readonly vars: { readonly [name: string]: unknown };
  readonly kv_namespaces: readonly { readonly binding: string }[];
  readonly r2_buckets: readonly { readonly bucket_name?: string }[];
  readonly d1_databases: readonly {
    readonly binding: string;
    readonly database_name?: string;
  }[];
}

type Route = string | { readonly pattern: string; readonly custom_domain?: boolean };

/** The text of wrangler.toml as an object. */
interface RawConfig {
  readonly env?: { readonly [name: string]: Partial<EnvironmentConfig> };
}

const CONFIG_FILE = "wrangler.toml";

/**
 * Reads an environment and checks its settings as the Worker would at its start.
 *
 * @throws DeployError that names what is wrong.
 */
export function readTarget(environment: Environment): Target {
  const config = readConfig(environment);
  const { name, workers_dev } = config;
  const namespace = config.kv_namespaces[0]?.binding;
  const database = config.d1_databases[0];
  const bucketNames = config.r2_buckets.flatMap(({ bucket_name }) => bucket_name ?? []);
  if (
    name === undefined ||
    namespace === undefined ||
    database?.database_name === undefined ||
    bucketNames.length < config.r2_buckets.length
  )
    throw new DeployError(
      `env.${environment} in ${CONFIG_FILE} must have a name, a KV namespace, a D1 database with its name, and R2 buckets with their names.`,
    );
  const routes = config.routes ?? [];
  return {
    environment,
    workerName: name,
    namespaceTitle: `${name}-${namespace.toLowerCase().replaceAll("_", "-")}`,
    databaseName: database.database_name,
    databaseBinding: database.binding,
    bucketNames,
    routedHost: routes.map(routeHost).find((host) => host !== undefined),
    routedDomains: routes.flatMap(routeDomain),
    isReachable: workers_dev === true || routes.length > 0,
    config: checkSettings(environment, config.vars),
  };
}

/** Wrangler checks the file; its own type of the result is lost, in a package that it does not bring. */
function readConfig(environment: Environment): EnvironmentConfig {
  return unstable_readConfig({ config: CONFIG_FILE, env: environment }) as EnvironmentConfig;
}

/** The host of a route such as `host/*`, unless it is a pattern as well. */
function routeHost(route: Route): string | undefined {
  const pattern = typeof route === "string" ? route : route.pattern;
  const [host = ""] = pattern.replace(/^https?:\/\//, "").split("/");
  return host.includes("*") ? undefined : host;
}

function routeDomain(route: Route): string[] {
  return typeof route === "object" && route.custom_domain === true ? [route.pattern] : [];
}

/** The custom domains that a deployment to an address takes. */
export function customDomains(target: Target, address: Address): readonly string[] {
  return address.kind === "domain" ? [address.domain] : target.routedDomains;
}

function checkSettings(environment: Environment, vars: EnvironmentConfig["vars"]): Config {
  try {
    // loadConfig checks each of them.
    return loadConfig(vars as unknown as Settings, manifest.locales);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new DeployError(
      `The settings of ${environment} cannot be used: ${error.message}\nCorrect [env.${environment}.vars] in ${CONFIG_FILE}.`,
    );
  }
}

export interface Provisioned {
  readonly namespaceId: string;
  readonly databaseId: string;
}

/** The whole of wrangler.toml with what the file cannot know of one environment. */
export function completeConfig(target: Target, address: Address, ids?: Provisioned): RawConfig {
  const read = experimental_readRawConfig({ config: CONFIG_FILE });
  const rawConfig = read.rawConfig as RawConfig; // readTarget has had wrangler check the same file
  const own = rawConfig.env?.[target.environment];
  const env = {
    ...own,
    ...(ids !== undefined && {
      kv_namespaces: (own?.kv_namespaces ?? []).map((entry) => ({ ...entry, id: ids.namespaceId })),
      d1_databases: (own?.d1_databases ?? []).map((entry) => ({
        ...entry,
        database_id: ids.databaseId,
      })),
    }),
    ...(address.kind === "workers.dev" && { workers_dev: true }),
    ...(address.kind === "domain" && {
      routes: [{ pattern: address.domain, custom_domain: true }],
    }),
  };
  return { ...rawConfig, env: { ...rawConfig.env, [target.environment]: env } };
}
