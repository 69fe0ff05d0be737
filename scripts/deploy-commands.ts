/** The wrangler commands of a deployment. Pure: what is run and what a dry run prints are the same. */
import type { Target } from "./deploy-target.ts";

export type Command = readonly string[];

export const WHO_AM_I: Command = ["whoami", "--json"];
export const LIST_NAMESPACES: Command = ["kv", "namespace", "list"];
export const LIST_DATABASES: Command = ["d1", "list", "--json"];

/** Without an environment, whose name wrangler would put before the title. */
export function createNamespace({ namespaceTitle }: Target): Command {
  return ["kv", "namespace", "create", namespaceTitle];
}

export function createDatabase({ databaseName }: Target): Command {
  return ["d1", "create", databaseName];
}

/** Names only, and an error as long as there is no such Worker. */
export function listSecrets({ workerName }: Target): Command {
  return ["secret", "list", "--name", workerName, "--format", "json"];
}

export function applyMigrations(target: Target, configFile: string): Command {
  const { databaseBinding, environment } = target;
  const where = ["--remote", "--env", environment, "--config", configFile];
  return ["d1", "migrations", "apply", databaseBinding, ...where];
}

export interface DeployCommandOptions {
  readonly configFile: string;
  /** JSON file of secrets to set; undefined leaves those that there are. */
  readonly secretsFile?: string | undefined;
}

/** Also makes the R2 buckets, which it finds by their names, where there are none. */
export function deployWorker(
  { environment }: Target,
  { configFile, secretsFile }: DeployCommandOptions,
): Command {
  const secrets = secretsFile === undefined ? [] : ["--secrets-file", secretsFile];
  return ["deploy", "--env", environment, "--config", configFile, ...secrets];
}

/** Builds and checks what would be uploaded; needs neither an account nor a network. */
export function buildWorker({ environment }: Target, configFile: string): Command {
  const where = ["--env", environment, "--config", configFile];
  return ["deploy", "--dry-run", "--outdir", "dist", ...where];
}
