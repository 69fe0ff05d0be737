import { Code, ConnectError } from "@connectrpc/connect";
import { CatalogError } from "./api.ts";

/** Says what a call of the service has thrown. */
export function toCatalogError(cause: unknown): CatalogError {
  if (cause instanceof CatalogError) return cause;
  const { code, rawMessage: message, metadata } = ConnectError.from(cause, Code.Internal);
  const seconds = Number(metadata.get("retry-after"));
  const failure = {
    code: Code[code].replaceAll(/\B[A-Z]/g, "_$&").toLowerCase(),
    message,
    retryAfterSeconds: seconds > 0 ? seconds : null,
  };
  return new CatalogError(failure, { cause });
}
