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
  /** Most bytes of a file, as announced and as decoded. */
  readonly maxBytes: number;
}

/** Where a table's file is. */
export interface HttpFile {
  readonly table: Table;
  readonly url: URL;
}

/** A file as it was fetched, and what its version is known by. */
export interface FetchedFile {
  readonly file: UpstreamFile;
  readonly validators: Validators;
}

/**
 * Fetches a file unless the archived one is still upstream's.
 *
 * @throws SourceError when it cannot be had, or is no CSV.
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
  return withRetries(
    async () =>
      attempt(async (signal): Promise<FetchedFile> => {
        const response = await requestFile(url, { known: known ?? {}, signal }, request);
        if (response.status === 304 && found !== undefined && known !== undefined)
          return {
            file: {
              name: found.name,
              unchangedSha256: known.sha256,
              as_of: asOf(known.last_modified, request.now()),
            },
            validators: known,
          };
        refusePage(response, where);
        const { deadline } = request;
        const bytes = await readCappedBody(response, { where, maxBytes, deadline });
        const name = nameFile(table, { where, bytes, maxBytes });
        const validators: Validators = { origin, ...readValidators(response) };
        const day = asOf(validators.last_modified, request.now());
        return { file: { name, bytes, as_of: day, ...validators }, validators };
      }),
    retry,
  );
}

/**
 * Whether upstream has another version by now than the one that was fetched. False also if the
 * versions cannot be told apart.
 */
export async function hasChanged(
  { url }: HttpFile,
  { validators }: FetchedFile,
  { request, retry }: HttpFileDependencies,
): Promise<boolean> {
  const { etag, last_modified } = validators;
  if (etag === undefined && last_modified === undefined) return false;
  return withRetries(
    async () =>
      attempt(async (signal) => {
        const response = await requestFile(url, { known: validators, signal }, request);
        if (response.status === 304) return false;
        const now = readValidators(response);
        return etag === undefined
          ? now.last_modified !== last_modified
          : opaqueTag(now.etag) !== opaqueTag(etag);
      }),
    retry,
  );
}

/** Does one attempt, and lets go of its connections whatever becomes of it. */
async function attempt<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  try {
    return await work(controller.signal);
  } finally {
    controller.abort();
  }
}

/** A weak tag and a strong one may mean the same version, once compressed and once not. */
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
