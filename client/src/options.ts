/** Checks arguments once, and names each wrong one with what would be right. Pure, but looks at the platform. */
import { CatalogError, type NearestOptions, type OpenOptions, type SearchOptions } from "./api.ts";
import type { Position } from "./distance.ts";
import type { NearestArgument } from "./nearest.ts";
import { isRecord } from "./search/shape.ts";

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 86_400_000;
const DEFAULT_STORED_LOCALES = 3;
const DEFAULT_LIMIT = 10;

/** More than the search reads. */
const TYPED_MAX_LENGTH = 200;

/** Who calls, and how the service is to be called. */
export interface Caller {
  readonly baseUrl: string;
  readonly locale: string;
  readonly timeoutMs: number;
  readonly storedLocales: number;
  readonly lazyNames: boolean;
  readonly fetch: typeof globalThis.fetch | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Defaults that depend on the opener. */
export interface Defaults {
  readonly lazyNames?: boolean;
  /** The address of the page, if there is one: `baseUrl` may then be a path. */
  readonly page?: string | undefined;
}

/**
 * Reads the options of opening.
 *
 * @throws CatalogError `invalid_argument` if one is misused.
 */
export function readCaller(options: OpenOptions, defaults: Defaults = {}): Caller {
  const example = '{ baseUrl: "https://locations.example.com" }';
  check("the options", options, isRecord, `an object such as ${example}`);
  const { timeoutMs, storedLocales, lazyNames, folder, startWorker, fetch, signal } = options;
  checkOption("timeoutMs", timeoutMs, isTimeout, "a number of milliseconds from 1 to 86400000");
  checkOption("storedLocales", storedLocales, isCount, "a whole number from 0");
  checkOption("lazyNames", lazyNames, (value) => typeof value === "boolean", "true or false");
  checkOption("folder", folder, (value) => isText(value) && value !== "", "the path of a folder");
  checkOption("startWorker", startWorker, isFunction, "a function that starts a worker");
  checkOption("fetch", fetch, isFunction, "a function such as fetch");
  checkSignal(signal);
  return {
    baseUrl: readBaseUrl(options.baseUrl, defaults.page),
    locale: options.locale === undefined ? "" : readLocale(options.locale),
    timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
    storedLocales: storedLocales ?? DEFAULT_STORED_LOCALES,
    lazyNames: lazyNames ?? defaults.lazyNames ?? false,
    fetch,
    signal,
  };
}

/** @throws CatalogError `failed_precondition` if this platform cannot verify an answer. */
export function needCrypto(): void {
  if (hasCrypto()) return;
  throw misuse(
    "failed_precondition",
    "crypto.subtle, which verifies the catalog, is missing here: browsers have it only in pages from https:// or localhost",
  );
}

/** Whether this platform can verify what is fetched or stored. */
export function hasCrypto(): boolean {
  return typeof crypto !== "undefined" && crypto.subtle !== undefined;
}

/**
 * Reads the address of a service, and drops the slashes at its end.
 *
 * @param page its address, if there is one: `baseUrl` may then be a path.
 * @throws CatalogError `invalid_argument` if it is no such address.
 */
export function readBaseUrl(baseUrl: unknown, page?: string): string {
  if (typeof baseUrl !== "string") throw badAddress(`must be a text, and is ${kindOf(baseUrl)}`);
  const base = baseUrl.startsWith("/") ? page : undefined;
  const url = URL.canParse(baseUrl, base) ? new URL(baseUrl, base) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw badAddress(`"${baseUrl.replace(/^.*@/, "…@")}" is not the address of a service`);
  if (url.username !== "" || url.password !== "")
    throw badAddress("has a user name or a password, with which nothing can be fetched");
  if (url.search !== "" || url.hash !== "") throw badAddress("has a part after its path");
  return url.href.replace(/^(.*[^/])\/*$/, "$1");
}

/** What has the form of a tag (RFC 5646); the service knows which languages there are. */
const TAG = /^(?:[a-z]{2,8}|[ix][-_][a-z\d]{1,8})(?:[-_][a-z\d]{1,8})*$/i;

/** In characters (RFC 5646, section 4.4.1). */
const TAG_MAX_LENGTH = 35;

/**
 * Reads a language tag. Empty, for the service's default, is a text that is none: browsers and servers
 * without a language say `C`, `en-US@posix` or `en_US.UTF-8`.
 *
 * @throws CatalogError `invalid_argument` if that is no text.
 */
export function readLocale(locale: string): string {
  check("locale", locale, isText, 'a language tag such as "de"');
  return locale.length <= TAG_MAX_LENGTH && TAG.test(locale) ? locale : "";
}

/** Reads the arguments of a search. */
export function readSearch(typed: string, options: SearchOptions = {}): SearchArgument {
  check("typed", typed, isText, "the text that is searched");
  check("the options of a search", options, isRecord, "an object such as { limit: 5 }");
  const { limit = DEFAULT_LIMIT, signal } = options;
  checkOption("limit", limit, isCount, "a whole number from 0");
  checkSignal(signal);
  return { typed: typed.slice(0, TYPED_MAX_LENGTH), limit };
}

export interface SearchArgument {
  readonly typed: string;
  readonly limit: number;
}

/** Reads the arguments of `nearest`. */
export function readNearest(position: Position, options: NearestOptions = {}): NearestArgument {
  check("position", position, isPosition, "{ lat, lon } in degrees");
  check("the options of nearest", options, isRecord, "an object such as { withinKm: 100 }");
  const { limit = DEFAULT_LIMIT, withinKm = Infinity } = options;
  checkOption("limit", limit, isCount, "a whole number from 0");
  checkOption("withinKm", withinKm, isDistance, "a number of kilometers from 0");
  return { position: { lat: position.lat, lon: position.lon }, limit, withinKm };
}

/** Reads what `get` finds a place by. */
export function readKey(key: string): string {
  check("the key of a place", key, isText, 'its id, or the IATA code of an airport such as "MUC"');
  return key;
}

export function readListener(listener: () => void): () => void {
  check("the listener", listener, isFunction, "a function");
  return listener;
}

/** @throws CatalogError `invalid_argument` if a value is not the right one. */
export function check(
  name: string,
  value: unknown,
  isRight: (value: unknown) => boolean,
  right: string,
): void {
  if (!isRight(value))
    throw misuse("invalid_argument", `${name} must be ${right}, and is ${kindOf(value)}`);
}

/** Checks what may be left out. */
function checkOption(...[name, value, isRight, right]: Parameters<typeof check>): void {
  if (value !== undefined) check(name, value, isRight, `${right}, or left out`);
}

function checkSignal(signal: unknown): void {
  // A signal of another frame is no instance of this frame's class.
  const isSignal = (value: unknown) =>
    isRecord(value) &&
    typeof value["aborted"] === "boolean" &&
    isFunction(value["throwIfAborted"]) &&
    isFunction(value["addEventListener"]);
  checkOption("signal", signal, isSignal, "an AbortSignal");
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isTimeout(value: unknown): boolean {
  return typeof value === "number" && value >= 1 && value <= MAX_TIMEOUT_MS;
}

function isDistance(value: unknown): boolean {
  return typeof value === "number" && value >= 0;
}

function isPosition(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { lat, lon } = value;
  return Number.isFinite(lat) && Number.isFinite(lon) && Math.abs(Number(lat)) <= 90;
}

function badAddress(what: string): CatalogError {
  const example = 'give one such as "https://locations.example.com"';
  return misuse("invalid_argument", `baseUrl ${what}: ${example}`);
}

function kindOf(value: unknown): string {
  if (value instanceof URL) return "a URL (its href is one)";
  if (typeof value === "string") return `"${value}"`;
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" ? "a function" : String(value);
}

export function misuse(code: string, message: string): CatalogError {
  return new CatalogError({ code, message, retryAfterSeconds: null });
}

export function closed(): CatalogError {
  return misuse("canceled", "the catalog is closed");
}
