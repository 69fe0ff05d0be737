/**
 * The settings that requests depend on. Uses no library, because the first request waits for all that
 * it loads.
 */
import type { DurationMs } from "./units.ts";

/** The settings as strings. A missing one has its default. */
export interface ServingSettings {
  /** Locale of a request that names none; must be one of LOCALES. */
  readonly DEFAULT_LOCALE?: string | undefined;
  /** Maximum size of the catalog in an isolate, in bytes: three quarters for parts, the rest for joined bodies. */
  readonly CACHE_MAX_BYTES?: string | undefined;
  /** How long an isolate serves from the manifest it holds before it looks for a newer one. */
  readonly MANIFEST_FRESH_MS?: string | undefined;
}

export const SERVING_SETTINGS = [
  "DEFAULT_LOCALE",
  "CACHE_MAX_BYTES",
  "MANIFEST_FRESH_MS",
] as const satisfies readonly (keyof ServingSettings)[];

/** The settings that requests depend on, validated, with units. */
interface ServingConfig {
  readonly defaultLocale: string;
  readonly cacheMaxBytes: number;
  readonly manifestFreshMs: DurationMs;
}

/**
 * Bound of the cache. Of the 128 MB of an isolate, the Worker's code and data take some 30 MB, and V8
 * may not yet have collected the memory of the last reads and requests.
 */
const CACHE_LIMIT_BYTES = 72 * 1024 * 1024;
/** Longest time that an isolate may serve from one manifest without a look for a newer one. */
const FRESH_LIMIT_MS = 60 * 60 * 1000;

/** Parses the settings. A wrong one has its default and is in `problems`, so the service always answers. */
export function readServingConfig(settings: object): {
  readonly config: ServingConfig;
  readonly problems: readonly string[];
} {
  const given: ServingSettings = settings;
  const problems: string[] = [];
  const wholeNumber = (
    name: "CACHE_MAX_BYTES" | "MANIFEST_FRESH_MS",
    { max, otherwise }: { readonly max: number; readonly otherwise: number },
  ): number => {
    const { [name]: text } = given;
    if (text === undefined) return otherwise;
    if (typeof text !== "string" || !/^\d+$/.test(text))
      problems.push(`${name} must be a whole number`);
    else if (Number(text) > max) problems.push(`${name} must be between 0 and ${max}`);
    else return Number(text);
    return otherwise;
  };
  const config = {
    // `[vars]` may hold other types than text.
    defaultLocale: typeof given.DEFAULT_LOCALE === "string" ? given.DEFAULT_LOCALE : "en",
    cacheMaxBytes: wholeNumber("CACHE_MAX_BYTES", {
      max: CACHE_LIMIT_BYTES,
      otherwise: 64 * 1024 * 1024,
    }),
    manifestFreshMs: wholeNumber("MANIFEST_FRESH_MS", { max: FRESH_LIMIT_MS, otherwise: 30_000 }),
  };
  return { config, problems };
}
