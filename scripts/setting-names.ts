import { ACCESS_SETTINGS } from "../src/credentials.ts";
import { CONFIG_SETTINGS } from "../src/config.ts";
import { LIMIT_SETTINGS } from "../src/health/limits.ts";

/** The names of all settings, which `[vars]` of wrangler.toml may have. */
export const SETTING_NAMES: readonly string[] = [
  ...CONFIG_SETTINGS,
  ...LIMIT_SETTINGS,
  ...ACCESS_SETTINGS,
];
