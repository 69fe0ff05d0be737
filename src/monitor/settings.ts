import { loadAlertConfig, OTHER_ALERT_SETTINGS, SECRET_ALERT_SETTINGS } from "./alert-settings.ts";
import { CONFIG_SETTINGS, loadConfig } from "../ingest/config.ts";
import { ACCESS_SETTINGS, readCredentials } from "../platform/credentials.ts";
import { LIMIT_SETTINGS } from "./alert-settings.ts";
import type { SnapshotLocale } from "../sources/snapshot.ts";

export const SETTING_NAMES: readonly string[] = [
  ...CONFIG_SETTINGS,
  ...LIMIT_SETTINGS,
  ...OTHER_ALERT_SETTINGS,
  ...ACCESS_SETTINGS,
];

/** The settings that only `wrangler secret put` should set. */
export const SECRET_NAMES: readonly string[] = ["ADMIN_TOKENS", ...SECRET_ALERT_SETTINGS];

/** The settings among a Worker's bindings, also unknown ones. Names that start with `_` belong to tools. */
export function settingsOf(bindings: object): { readonly [name: string]: unknown } {
  const isSetting = ([name, value]: [string, unknown]) =>
    isKnown(name) ||
    (!name.startsWith("_") && ["string", "number", "boolean"].includes(typeof value));
  return Object.fromEntries(Object.entries(bindings).filter(isSetting));
}

function isKnown(name: string): boolean {
  return SETTING_NAMES.includes(name) || SECRET_NAMES.includes(name);
}

/**
 * Describes the problems of settings, wherever they were set; repeats no secret. Each reader uses
 * defaults instead of invalid settings, so that the service still runs.
 *
 * @param known locales that the snapshot has names for.
 */
export function checkSettings(
  settings: { readonly [name: string]: unknown },
  known: readonly SnapshotLocale[],
): readonly string[] {
  const set = Object.entries(settings).filter(([, value]) => value !== undefined);
  const others = set.flatMap(([name, value]) => {
    if (!isKnown(name)) return `there is no setting ${name}`;
    return typeof value === "string" ? [] : `${name} must be text, in quotes`;
  });
  const texts = Object.fromEntries(set.filter(([, value]) => typeof value === "string"));
  const credentials = readCredentials(texts).problem;
  return [
    ...others,
    ...loadConfig(texts, known).problems,
    ...loadAlertConfig(texts).problems,
    ...(credentials === null ? [] : [credentials]),
  ];
}
