import { z } from "zod";
import { type AirportSet, AIRPORT_SETS } from "./catalog/manifest.ts";
import { parseSourceUrl } from "./sources/fetch-policy.ts";
import type { SourceUrls } from "./sources/http-upstream.ts";
import type { SnapshotLocale } from "./sources/snapshot.ts";
import { FILE_MAX_BYTES } from "./sources/source-file.ts";

/** The settings of the Worker, validated, with units. */
export interface Config {
  /** The locale of a request that names none. One of `locales`. */
  readonly defaultLocale: string;
  /** Locales to publish, in code unit order. */
  readonly locales: readonly string[];
  /** Airports to publish. */
  readonly airportSet: AirportSet;
  readonly cacheMaxBytes: number;
  readonly manifestFreshMs: number;
  /** The upstream of a run that names none. */
  readonly source: SourceName;
  readonly sourceUrls: SourceUrls;
  readonly sourceAllowedHosts: readonly string[];
  readonly sourceMaxBytes: number;
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

/** The settings as strings. */
export type Settings = Pick<
  Env,
  | "DEFAULT_LOCALE"
  | "LOCALES"
  | "AIRPORTS"
  | "CACHE_MAX_BYTES"
  | "MANIFEST_FRESH_MS"
  | "SOURCE"
  | "SOURCE_URLS"
  | "SOURCE_ALLOWED_HOSTS"
  | "SOURCE_MAX_BYTES"
  | "COMPRESSION"
>;

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, "must be a whole number")
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be between ${min} and ${max}`);

/**
 * Parses and validates the settings.
 *
 * @param known locales that the snapshot has names for.
 * @throws ConfigError
 */
export function loadConfig(settings: Settings, known: readonly SnapshotLocale[]): Config {
  const schema = z.object({
    DEFAULT_LOCALE: z.string(),
    LOCALES: z.string().transform((text, context) => {
      const names = known.map(({ locale }) => locale);
      const locales = [...new Set(chooseLocales(text, known))].toSorted();
      const unknown = locales.filter((locale) => !names.includes(locale));
      if (unknown.length > 0)
        context.addIssue(`names "${unknown.join('", "')}"; there are names in ${names.join(", ")}`);
      return locales;
    }),
    AIRPORTS: z.enum(AIRPORT_SETS),
    CACHE_MAX_BYTES: wholeNumber(0, 100 * 1024 * 1024),
    MANIFEST_FRESH_MS: wholeNumber(0, 3_600_000),
    SOURCE: z.enum(SOURCE_NAMES),
    SOURCE_URLS: z.string().transform(parseUrls),
    SOURCE_ALLOWED_HOSTS: z
      .string()
      .transform((text) => splitList(text).filter((host) => host !== "")),
    SOURCE_MAX_BYTES: wholeNumber(1, FILE_MAX_BYTES),
    COMPRESSION: z.enum(["fast", "best"]),
  });
  const parsed = schema.safeParse(settings);
  if (!parsed.success)
    throw new ConfigError(
      parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`).join("; "),
    );
  const { DEFAULT_LOCALE, LOCALES } = parsed.data;
  if (!LOCALES.includes(DEFAULT_LOCALE))
    throw new ConfigError(
      `LOCALES must name "${DEFAULT_LOCALE}", the DEFAULT_LOCALE, but is ${LOCALES.join(", ")}`,
    );
  return {
    defaultLocale: DEFAULT_LOCALE,
    locales: LOCALES,
    airportSet: parsed.data.AIRPORTS,
    cacheMaxBytes: parsed.data.CACHE_MAX_BYTES,
    manifestFreshMs: parsed.data.MANIFEST_FRESH_MS,
    source: parsed.data.SOURCE,
    sourceUrls: parsed.data.SOURCE_URLS,
    sourceAllowedHosts: parsed.data.SOURCE_ALLOWED_HOSTS,
    sourceMaxBytes: parsed.data.SOURCE_MAX_BYTES,
    compression: parsed.data.COMPRESSION,
  };
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
