/** Reads what `openCatalog` is given. Pure but for a look at what the place can do. */
import { CatalogError, type OpenOptions } from "./api.ts";

const DEFAULT_TIMEOUT_MS = 60_000;

const DEFAULT_STORED_LOCALES = 3;

/** Who calls, and how the service is to be called. */
export interface Caller {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly storedLocales: number;
  readonly lazyNames: boolean;
  readonly fetch: typeof globalThis.fetch | undefined;
}

/** @throws CatalogError `invalid_argument` if an option is misused. */
export function readCaller(options: OpenOptions, page?: string): Caller {
  const baseUrl = readBaseUrl(options.baseUrl, page);
  return {
    baseUrl,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    storedLocales: options.storedLocales ?? DEFAULT_STORED_LOCALES,
    lazyNames: options.lazyNames ?? false,
    fetch: options.fetch,
  };
}

/** @throws CatalogError `failed_precondition` if this place cannot verify an answer. */
export function needCrypto(): void {
  if (typeof crypto !== "undefined" && crypto.subtle !== undefined) return;
  throw misuse(
    "failed_precondition",
    "crypto.subtle, which verifies the catalog, is missing here: browsers have it only in pages from https:// or localhost",
  );
}

/**
 * Reads the address of a service, and drops the slashes at its end.
 *
 * @param page where the caller is a page, whose path may be given alone.
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
 * Reads a language tag. Empty, for the service's default, is what is none: browsers and servers
 * without a language say `C`, `en-US@posix` or `en_US.UTF-8`.
 */
export function readLocale(locale: string | undefined): string {
  const isTag = locale !== undefined && locale.length <= TAG_MAX_LENGTH && TAG.test(locale);
  return isTag ? locale : "";
}

function badAddress(what: string): CatalogError {
  const example = 'give one such as "https://locations.example.com"';
  return misuse("invalid_argument", `baseUrl ${what}: ${example}`);
}

function kindOf(value: unknown): string {
  return value instanceof URL ? "a URL (its href is one)" : String(value);
}

export function misuse(code: string, message: string): CatalogError {
  return new CatalogError({ code, message, retryAfterSeconds: null });
}
