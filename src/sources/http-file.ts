import { sha256Hex } from "../catalog/hash.ts";
import { asOf } from "./as-of.ts";
import { readCappedBody } from "./capped-body.ts";
import { describeUrl } from "./fetch-policy.ts";
import { requestFile, type RequestDependencies } from "./http-request.ts";
import { type RetryDependencies, withRetries } from "./retries.ts";
import { findFile, nameFile, type Table } from "./source-file.ts";
import { SourceError } from "./source-error.ts";
import type { ArchivedFiles, UpstreamFile, Validators } from "./upstream.ts";

export interface HttpFileDependencies {
  readonly request: RequestDependencies;
  readonly retry: RetryDependencies;
  /** Limit of the announced and of the decoded bytes. */
  readonly maxBytes: number;
}

/** A table's file and its URL. */
export interface HttpFile {
  readonly table: Table;
  readonly url: URL;
}

/** A fetched file with the validators of its version. */
export interface FetchedFile {
  readonly file: UpstreamFile;
  readonly validators: Validators;
}

/**
 * Fetches a file unless the archived version is still current.
 *
 * @throws SourceError if the file is unavailable or not CSV.
 */
export async function fetchHttpFile(
  { table, url }: HttpFile,
  archived: ArchivedFiles,
  { request, retry, maxBytes }: HttpFileDependencies,
): Promise<FetchedFile> {
  const origin = sha256Hex(url.href);
  const found = findFile(table, archived);
  const known = found?.file.origin === origin ? found.file : undefined;
  const where = describeUrl(url);
  return attempt(retry, async (signal): Promise<FetchedFile> => {
    const response = await requestFile(url, { known: known ?? {}, signal }, request);
    if (response.status === 304 && found !== undefined && known !== undefined) {
      const as_of = asOf(known.last_modified, request.now());
      const file = { name: found.name, unchangedSha256: known.sha256, as_of };
      return { file, validators: known };
    }
    refusePage(response, where);
    const { deadline } = request;
    const bytes = await readCappedBody(response, { where, maxBytes, deadline });
    const name = nameFile(table, { where, bytes, maxBytes });
    const validators: Validators = { origin, ...readValidators(response) };
    const as_of = asOf(validators.last_modified, request.now());
    return { file: { name, bytes, as_of, ...validators }, validators };
  });
}

/**
 * Whether upstream has published another version since the fetch. Returns false for a file without
 * validators, because its versions are indistinguishable.
 */
export async function hasChanged(
  { url }: HttpFile,
  { validators }: FetchedFile,
  { request, retry }: HttpFileDependencies,
): Promise<boolean> {
  const { etag, last_modified } = validators;
  if (etag === undefined && last_modified === undefined) return false;
  return attempt(retry, async (signal) => {
    const response = await requestFile(url, { known: validators, signal }, request);
    if (response.status === 304) return false;
    const now = readValidators(response);
    return etag === undefined
      ? now.last_modified !== last_modified
      : opaqueTag(now.etag) !== opaqueTag(etag);
  });
}

/** Works with retries. Closes the connections of each attempt, whether it succeeds or fails. */
function attempt<T>(
  retry: RetryDependencies,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withRetries(async () => {
    const controller = new AbortController();
    try {
      return await work(controller.signal);
    } finally {
      controller.abort();
    }
  }, retry);
}

/** A weak and a strong tag can name one version: a server weakens the tag when it compresses. */
function opaqueTag(etag: string | undefined): string | undefined {
  return etag?.replace(/^W\//, "");
}

function readValidators({ headers }: Response): Validators {
  const etag = headers.get("etag");
  const last_modified = headers.get("last-modified");
  return {
    ...(etag !== null && { etag }),
    ...(last_modified !== null && { last_modified }),
  };
}

function refusePage({ headers }: Response, where: string): void {
  const [type = ""] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  if (["text/html", "application/xhtml+xml"].includes(type.trim()))
    throw new SourceError("not_csv", `${where} answers with a page instead of CSV; check the URL`);
}
