import * as z from "zod";
import { AIRPORT_SETS } from "./catalog/manifest.ts";
import {
  ConfigError,
  readServingConfig,
  SERVING_SETTINGS,
  type ServingSettings,
} from "./serving-config.ts";
import type { SnapshotLocale } from "./sources/snapshot.ts";
import { FILE_MAX_BYTES } from "./sources/source-file.ts";
import { DAY_MS, HOUR_MS } from "./storage/time.ts";
import { LIVE_URLS, parseSourceUrls, type SourceUrls } from "./sources/http-upstream.ts";

/** The settings of the Worker, validated, with units. `defaultLocale` is one of `locales`. */
export type Config = Readonly<ReturnType<typeof loadConfig>>;

/** The names of all upstreams. */
export const SOURCE_NAMES = ["embedded", "ourairports", "dropped"] as const;

const wholeNumber = (min: number, max: number, value: number) =>
  z
    .string()
    .default(String(value))
    .refine((text) => /^\d+$/.test(text), { error: "must be a whole number", abort: true })
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be between ${min} and ${max}`);

/** The settings of ingest runs, and what each is where it is not set. */
const INGEST_FIELDS = {
  /** Locales to publish: "all" of the snapshot, or a comma-separated list. */
  LOCALES: z.string().default("all"),
  /** Airports to publish: "all", or "scheduled" for those with scheduled service only. */
  AIRPORTS: z.enum(AIRPORT_SETS).default("all"),
  /**
   * Where airports and regions come from: "embedded" (the deployed snapshot), "ourairports" (over
   * HTTP), or "dropped" (OurAirports' files, plain or .gz, under drop/ in R2).
   */
  SOURCE: z.enum(SOURCE_NAMES).default("embedded"),
  /** For "ourairports": the URLs of its files, of airports and of regions. */
  SOURCE_URLS: z.string().default(LIVE_URLS).transform(parseUrls),
  /** Other hosts where redirects of these URLs may end, comma-separated. */
  SOURCE_ALLOWED_HOSTS: z
    .string()
    .default("")
    .transform((text) => splitList(text).filter((host) => host !== "")),
  /** Most bytes of an upstream file, as announced and as decoded; today's largest has 13 MB. */
  SOURCE_MAX_BYTES: wholeNumber(1, FILE_MAX_BYTES, FILE_MAX_BYTES),
  /** How hard an ingest compresses: "fast" (brotli 4, gzip 4) or "best" (brotli 11, gzip 9). */
  COMPRESSION: z.enum(["fast", "best"]).default("fast"),
  /**
   * A change by upstream is held back until upstream has said the same for this time, or an operator
   * approves it. 0 takes over all changes.
   */
  SURPRISE_HOLD_MS: wholeNumber(0, 30 * DAY_MS, 72 * HOUR_MS),
  /** A file without over this share of the airports in use is truncated, and refused. */
  SURPRISE_UNLISTED_PERCENT: wholeNumber(1, 100, 8),
};

/** The names of all settings that `loadConfig` reads. */
export const CONFIG_SETTINGS = [...SERVING_SETTINGS, ...Object.keys(INGEST_FIELDS)];

/** The settings as strings. A missing one has its default. */
export type Settings = {
  readonly [S in keyof ServingSettings | keyof typeof INGEST_FIELDS]?: string | undefined;
};

/**
 * Parses and validates all settings.
 *
 * @param known locales that the snapshot has names for.
 * @throws ConfigError
 */
export function loadConfig(settings: Settings, known: readonly SnapshotLocale[]) {
  const schema = z.object({
    ...INGEST_FIELDS,
    LOCALES: INGEST_FIELDS.LOCALES.transform((text, context) => {
      const names = known.map(({ locale }) => locale);
      const locales = [...new Set(chooseLocales(text, known))].toSorted();
      const unknown = locales.filter((locale) => !names.includes(locale));
      if (unknown.length > 0)
        context.addIssue(`names "${unknown.join('", "')}"; there are names in ${names.join(", ")}`);
      return locales;
    }),
  });
  const serving = readServingConfig(settings);
  const { data: parsed, error } = schema.safeParse(settings);
  const issues = error?.issues.map(({ path, message }) => `${path.join(".")} ${message}`) ?? [];
  const problems = [...serving.problems, ...issues];
  if (parsed === undefined || problems.length > 0) throw new ConfigError(problems.join("; "));
  const { defaultLocale } = serving.config;
  const { LOCALES: locales } = parsed;
  if (!locales.includes(defaultLocale))
    throw new ConfigError(
      `LOCALES must name "${defaultLocale}", the DEFAULT_LOCALE, but is ${locales.join(", ")}`,
    );
  return {
    ...serving.config,
    locales,
    airportSet: parsed.AIRPORTS,
    source: parsed.SOURCE,
    sourceUrls: parsed.SOURCE_URLS,
    sourceAllowedHosts: parsed.SOURCE_ALLOWED_HOSTS,
    sourceMaxBytes: parsed.SOURCE_MAX_BYTES,
    compression: parsed.COMPRESSION,
    surprises: {
      holdMs: parsed.SURPRISE_HOLD_MS,
      unlistedPercent: parsed.SURPRISE_UNLISTED_PERCENT,
    },
  };
}

function chooseLocales(text: string, known: readonly SnapshotLocale[]): string[] {
  if (text === "all") return known.map(({ locale }) => locale);
  return splitList(text);
}

function splitList(text: string): string[] {
  return text.split(",").map((item) => item.trim());
}

function parseUrls(text: string, context: z.RefinementCtx): SourceUrls {
  const parsed = parseSourceUrls(splitList(text));
  if (parsed.ok) return parsed.urls;
  for (const problem of parsed.problems) context.addIssue(problem);
  return z.NEVER;
}
