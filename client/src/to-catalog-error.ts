import { CatalogError } from "./api.ts";

/** Says what a call of the package has thrown. */
export function toCatalogError(cause: unknown): CatalogError {
  if (cause instanceof CatalogError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  return new CatalogError({ code: "internal", message, retryAfterSeconds: null }, { cause });
}
