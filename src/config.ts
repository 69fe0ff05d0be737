import { z } from "zod";
import type { SurpriseLimits } from "./acceptance/surprises.ts";
import { type AirportSet, AIRPORT_SETS } from "./catalog/manifest.ts";
import { parseSourceUrl } from "./sources/fetch-policy.ts";
import type { SourceUrls } from "./sources/http-upstream.ts";
import type { SnapshotLocale } from "./sources/snapshot.ts";
import { FILE_MAX_BYTES } from "./sources/source-file.ts";

/** The settings that requests depend on, validated, with units. */
export interface ServingConfig {
  /** The locale of a request that names none. */
  readonly defaultLocale: string;
  readonly cacheMaxBytes: number;
  readonly manifestFreshMs: number;
}

/** The settings of the Worker, validated, with units. `defaultLocale` is one of `locales`. */
export interface Config extends ServingConfig {
  /** Locales to publish, in code unit order. */
  readonly locales: readonly string[];
  /** Airports to publish. */
  readonly airportSet: AirportSet;
  /** The upstream of a run that names none. */
  readonly source: SourceName;
  readonly sourceUrls: SourceUrls;
  readonly sourceAllowedHosts: readonly string[];
  readonly sourceMaxBytes: number;
  readonly surprises: SurpriseLimits;
  /** How hard an ingest run compresses. */
  readonly compression: "fast" | "best";
}

/** The names of all upstreams. */
export const SOURCE_NAMES = ["embedded", "ourairports", "dropped"] as const;
type SourceName = (typeof SOURCE_NAMES)[number];

/** Some settings are wrong. The message names each and says what it must be. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** The settings that requests depend on, as strings. */
type ServingSettings = Pick<Env, "DEFAULT_LOCALE" | "CACHE_MAX_BYTES" | "MANIFEST_FRESH_MS">;

/** The settings as strings. */
export type Settings = ServingSettings &
  Pick<
    Env,
    | "LOCALES"
    | "AIRPORTS"
    | "SOURCE"
    | "SOURCE_URLS"
    | "SOURCE_ALLOWED_HOSTS"
    | "SOURCE_MAX_BYTES"
    | "COMPRESSION"
    | "SURPRISE_HOLD_MS"
    | "SURPRISE_MOVE_KM"
    | "SURPRISE_REGION_LOSS_PERCENT"
  >;

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, "must be a whole number")
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be between ${min} and ${max}`);

/**
 * Bound of the cache. Of the 128 MB of an isolate, the Worker's code and data take some 30 MB, and
 * V8 may not have collected yet what the last reads and requests needed.
 */
const CACHE_LIMIT_BYTES = 72 * 1024 * 1024;

const SERVING_FIELDS = {
  DEFAULT_LOCALE: z.string(),
  CACHE_MAX_BYTES: wholeNumber(0, CACHE_LIMIT_BYTES),
  MANIFEST_FRESH_MS: wholeNumber(0, 3_600_000),
};

/**
 * Parses and validates the settings that requests depend on. The service answers whatever the
 * settings of the ingest are.
 *
 * @throws ConfigError
 */
export function loadServingConfig(settings: ServingSettings): ServingConfig {
  const parsed = parse(z.object(SERVING_FIELDS), settings);
  return {
    defaultLocale: parsed.DEFAULT_LOCALE,
    cacheMaxBytes: parsed.CACHE_MAX_BYTES,
    manifestFreshMs: parsed.MANIFEST_FRESH_MS,
  };
}

/**
 * Parses and validates all settings.
 *
 * @param known locales that the snapshot has names for.
 * @throws ConfigError
 */
export function loadConfig(settings: Settings, known: readonly SnapshotLocale[]): Config {
  const schema = z.object({
    ...SERVING_FIELDS,
    LOCALES: z.string().transform((text, context) => {
      const names = known.map(({ locale }) => locale);
      const locales = [...new Set(chooseLocales(text, known))].toSorted();
      const unknown = locales.filter((locale) => !names.includes(locale));
      if (unknown.length > 0)
        context.addIssue(`names "${unknown.join('", "')}"; there are names in ${names.join(", ")}`);
      return locales;
    }),
    AIRPORTS: z.enum(AIRPORT_SETS),
    SOURCE: z.enum(SOURCE_NAMES),
    SOURCE_URLS: z.string().transform(parseUrls),
    SOURCE_ALLOWED_HOSTS: z
      .string()
      .transform((text) => splitList(text).filter((host) => host !== "")),
    SOURCE_MAX_BYTES: wholeNumber(1, FILE_MAX_BYTES),
    COMPRESSION: z.enum(["fast", "best"]),
    SURPRISE_HOLD_MS: wholeNumber(0, 30 * 24 * 60 * 60 * 1000),
    SURPRISE_MOVE_KM: wholeNumber(1, 1000),
    SURPRISE_REGION_LOSS_PERCENT: wholeNumber(1, 100),
  });
  const parsed = parse(schema, settings);
  const { DEFAULT_LOCALE, LOCALES } = parsed;
  if (!LOCALES.includes(DEFAULT_LOCALE))
    throw new ConfigError(
      `LOCALES must name "${DEFAULT_LOCALE}", the DEFAULT_LOCALE, but is ${LOCALES.join(", ")}`,
    );
  return {
    ...loadServingConfig(settings),
    locales: LOCALES,
    airportSet: parsed.AIRPORTS,
    source: parsed.SOURCE,
    sourceUrls: parsed.SOURCE_URLS,
    sourceAllowedHosts: parsed.SOURCE_ALLOWED_HOSTS,
    sourceMaxBytes: parsed.SOURCE_MAX_BYTES,
    compression: parsed.COMPRESSION,
    surprises: {
      holdMs: parsed.SURPRISE_HOLD_MS,
      moveKm: parsed.SURPRISE_MOVE_KM,
      regionLossPercent: parsed.SURPRISE_REGION_LOSS_PERCENT,
    },
  };
}

function parse<Schema extends z.ZodType>(schema: Schema, settings: object): z.output<Schema> {
  const parsed = schema.safeParse(settings);
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`).join("; "),
  );
}

function chooseLocales(text: string, known: readonly SnapshotLocale[]): string[] {
  if (text === "all") return known.map(({ locale }) => locale);
  if (text === "default")
    return known.filter((entry) => entry.default).map((entry) => entry.locale);
  return splitList(text);
}

function splitList(text: string): string[] {
  return text.split(",").map((item) => item.trim());
}

function parseUrls(text: string, context: z.RefinementCtx): SourceUrls {
  const [airports, regions, ...more] = splitList(text);
  if (airports === undefined || regions === undefined || more.length > 0) {
    context.addIssue("must be two URLs: of airports.csv and of regions.csv");
    return z.NEVER;
  }
  for (const url of [airports, regions]) {
    const parsed = parseSourceUrl(url);
    if (!parsed.ok) context.addIssue(`"${url}" ${parsed.problem}`);
  }
  return { "airports.csv": airports, "regions.csv": regions };
}
