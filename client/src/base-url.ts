import { CatalogError } from "./api.ts";

/**
 * Reads the address of a service, and drops the slashes at its end.
 *
 * @param page where the caller is a page, whose path may be given alone.
 * @throws CatalogError `invalid_argument` if it is no such address.
 */
export function readBaseUrl(baseUrl: string, page?: string): string {
  const base = baseUrl.startsWith("/") ? page : undefined;
  const url = URL.canParse(baseUrl, base) ? new URL(baseUrl, base) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol))
    return url.href.replace(/^(.*[^/])\/*$/, "$1");
  throw new CatalogError({
    code: "invalid_argument",
    message: `baseUrl "${baseUrl}" is not the address of a service, such as "https://locations.example.com"`,
    retryAfterSeconds: null,
  });
}
