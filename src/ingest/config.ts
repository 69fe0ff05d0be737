import * as z from "zod";
import { SOURCE_NAMES } from "../schemas/run-words.ts";
import { AIRPORT_SETS } from "../parts/manifest.ts";
import {
  readServingConfig,
  SERVING_SETTINGS,
  type ServingSettings,
} from "../platform/serving-config.ts";
import type { SnapshotLocale } from "../sources/snapshot.ts";
import { FILE_MAX_BYTES } from "../sources/source-file.ts";
import { DAY_MS, HOUR_MS } from "../platform/time.ts";
import { LIVE_URLS, parseSourceUrls, type SourceUrls } from "../sources/http-upstream.ts";

/** The settings of the Worker, validated, with units. `defaultLocale` is one of `locales`. */
export type Config = Readonly<ReturnType<typeof loadConfig>["config"]>;

const wholeNumber = (min: number, max: number, value: number) =>
  z
    .string()
    .default(String(value))
    .refine((text) => /^\d+$/.test(text), { error: "must be a whole number", abort: true })
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be between ${min} and ${max}`);

const oneOf = <const Names extends readonly string[]>(names: Names) =>
  z.enum(names, `must be one of ${names.join(", ")}`);

/** The settings of ingest runs, with their defaults. */
const INGEST_FIELDS = {
  /** Locales to publish: "all" of the snapshot, or a comma-separated list. */
  LOCALES: z.string().default("all"),
  /** Airports to publish: "all", or "scheduled" for those with scheduled service only. */
  AIRPORTS: oneOf(AIRPORT_SETS).default("all"),
  /**
   * Where airports and regions come from: "embedded" (the deployed snapshot), "ourairports" (over
   * HTTP), or "dropped" (OurAirports' files, plain or .gz, under drop/ in R2).
   */
  SOURCE: oneOf(SOURCE_NAMES).default("embedded"),
  /** For "ourairports": the URLs of its files, of airports and of regions. */
  SOURCE_URLS: z.string().default(LIVE_URLS).transform(parseUrls),
  /** Other hosts where redirects of these URLs may end, comma-separated. */
  SOURCE_ALLOWED_HOSTS: z
    .string()
    .default("")
    .transform((text) => splitList(text).filter((host) => host !== "")),
  /** Maximum size of an upstream file in bytes, as announced and as decoded; today's largest has 13 MB. */
  SOURCE_MAX_BYTES: wholeNumber(1_048_576, FILE_MAX_BYTES, FILE_MAX_BYTES),
  /** How hard an ingest compresses: "fast" (brotli 1, gzip 1) or "best" (brotli 11, gzip 9). */
  COMPRESSION: oneOf(["fast", "best"]).default("fast"),
  /** How long upstream must say the same before its change is accepted without an operator; 0: at once. */
  SURPRISE_HOLD_MS: wholeNumber(0, 30 * DAY_MS, 72 * HOUR_MS),
  /** A file that lacks more than this share of the airports in use counts as truncated, and is refused. */
  SURPRISE_UNLISTED_PERCENT: wholeNumber(1, 100, 8),
};

export const CONFIG_SETTINGS = [...SERVING_SETTINGS, ...Object.keys(INGEST_FIELDS)];

export type Settings = {
  readonly [S in keyof ServingSettings | keyof typeof INGEST_FIELDS]?: string | undefined;
};

/**
 * Parses all settings. One that is wrong has its default.
 *
 * @param known locales that the snapshot has names for.
 * @returns the problems of all settings, and those of the settings of ingest runs: a run must not
 * publish by a default that nobody chose.
 */
export function loadConfig(settings: Settings, known: readonly SnapshotLocale[]) {
  const runProblems: string[] = [];
  const read = <T>(name: keyof typeof INGEST_FIELDS, field: z.ZodType<T>): T => {
    const { data, success, error } = field.safeParse(settings[name]);
    if (success) return data;
    runProblems.push(`${name} ${error.issues.map(({ message }) => message).join("; ")}`);
    return field.parse(undefined);
  };
  const LOCALES = INGEST_FIELDS.LOCALES.transform((text, context) => {
    const names = known.map(({ locale }) => locale);
    const locales = [...new Set(chooseLocales(text, known))].toSorted();
    const unknown = locales.filter((locale) => !names.includes(locale));
    if (unknown.length > 0)
      context.addIssue(`names "${unknown.join('", "')}"; there are names in ${names.join(", ")}`);
    return locales;
  });
  const serving = readServingConfig(settings);
  const config = {
    ...serving.config,
    locales: read("LOCALES", LOCALES),
    airportSet: read("AIRPORTS", INGEST_FIELDS.AIRPORTS),
    source: read("SOURCE", INGEST_FIELDS.SOURCE),
    sourceUrls: read("SOURCE_URLS", INGEST_FIELDS.SOURCE_URLS),
    sourceAllowedHosts: read("SOURCE_ALLOWED_HOSTS", INGEST_FIELDS.SOURCE_ALLOWED_HOSTS),
    sourceMaxBytes: read("SOURCE_MAX_BYTES", INGEST_FIELDS.SOURCE_MAX_BYTES),
    compression: read("COMPRESSION", INGEST_FIELDS.COMPRESSION),
    holdLimits: {
      holdMs: read("SURPRISE_HOLD_MS", INGEST_FIELDS.SURPRISE_HOLD_MS),
      unlistedPercent: read("SURPRISE_UNLISTED_PERCENT", INGEST_FIELDS.SURPRISE_UNLISTED_PERCENT),
    },
  };
  const { defaultLocale, locales } = config;
  if (runProblems.length === 0 && !locales.includes(defaultLocale))
    runProblems.push(
      `LOCALES must name "${defaultLocale}", the DEFAULT_LOCALE, but is ${locales.join(", ")}`,
    );
  return { config, problems: [...serving.problems, ...runProblems], runProblems };
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
