import { releaseBuffer, sha256Hex } from "../catalog/bytes.ts";
import type { DataSource, Manifest } from "../parts/manifest.ts";
import type { UpstreamReader } from "../sources/upstream-reader.ts";
import { hasAirports, type Snapshot } from "../sources/snapshot.ts";
import { findFile } from "../sources/source-file.ts";
import { EMBEDDED, type Upstream } from "../sources/upstream.ts";
import type { SourceArchive } from "../storage/source-archive.ts";
import type { ArchivedCandidate, RunContext } from "./step.ts";
import { RunFault } from "./faults.ts";
import type { ArchivedFile, UpstreamFiles } from "../schemas/run-report.ts";
import type { RunMode } from "../schemas/run-words.ts";
import type { Sha256Hex } from "../platform/units.ts";

export interface FetchDependencies {
  readonly archive: SourceArchive;
  readonly upstreams: { readonly [name: string]: Upstream };
  readonly snapshot: Snapshot;
}

type FetchRequest = Pick<RunContext, "source" | "mode" | "archived" | "candidate" | "as_of">;

interface FetchedSources {
  /** Archived upstream files, and the snapshot. */
  readonly sources: { readonly [file: string]: Sha256Hex };
  readonly upstream: UpstreamFiles;
}

/** @throws RunFault `unknown_source`. */
export function findUpstream(upstreams: FetchDependencies["upstreams"], name: string): Upstream {
  const found = upstreams[name];
  if (found === undefined) throw new RunFault("unknown_source", `there is no source "${name}"`);
  return found;
}

/** The dated files of a manifest. */
interface Dated {
  /** Name of the upstream, the files that it reads, and the files that it returned. */
  readonly source: string;
  readonly reader: Pick<UpstreamReader, "files">;
  readonly upstream: UpstreamFiles;
  readonly snapshot: Pick<Snapshot, "sources">;
}

export function datesOf({
  source,
  reader,
  upstream,
  snapshot,
}: Dated): Pick<Manifest, "as_of" | "data"> {
  const days = reader.files.map((name) => ({ name, day: findFile(name, upstream)?.file.as_of }));
  const fetched = days.flatMap(({ name, day }): DataSource[] =>
    day === undefined ? [] : [{ name: `${source}: ${name}`, as_of: day }],
  );
  const isEmbedded = source === EMBEDDED;
  const used = snapshot.sources.filter((given) => isEmbedded || !hasAirports(given));
  const ours = used.map(({ what, as_of }) => ({ name: what, as_of }));
  return { as_of: days[0]?.day ?? null, data: isEmbedded ? ours : [...fetched, ...ours] };
}

/**
 * Fetches upstream's files and archives their exact bytes. Mode `full` fetches every file; other
 * modes fetch only files that have changed, or whose archived bytes are lost or damaged. A candidate
 * comes from the archive in any mode, without a request to upstream.
 *
 * @throws RunFault `candidate_gone` or `unknown_source`; SourceError if upstream's files cannot be
 * fetched.
 */
export async function fetchSources(
  { archive, upstreams, snapshot }: FetchDependencies,
  { source, mode, archived, candidate, as_of }: FetchRequest,
): Promise<FetchedSources> {
  if (candidate !== null) return takeCandidate({ archive, snapshot }, candidate);
  const from = findUpstream(upstreams, source);
  const known = mode === "full" ? {} : await presentFiles(archive, archived);
  const sources: { [file: string]: Sha256Hex } = { snapshot: snapshot.sha256 };
  const upstream: { [file: string]: ArchivedFile } = {};
  for (const file of await from.fetch(known, as_of)) {
    if ("unchangedSha256" in file) {
      sources[file.name] = file.unchangedSha256;
      const { name, as_of: day } = file;
      const { as_of: _, ...present } = known[name] ?? {};
      if ("sha256" in present)
        upstream[name] = { ...present, ...(day !== undefined && { as_of: day }) };
      continue;
    }
    const { name, bytes, ...validators } = file;
    const sha256 = await archiveFile(archive, bytes, mode);
    sources[name] = sha256;
    const last = archived[name];
    // A run that accepts approved changes does not repeat the date of the dropped files.
    const date = last?.sha256 === sha256 && last.as_of !== undefined ? { as_of: last.as_of } : {};
    upstream[name] = { sha256, bytes: bytes.length, ...date, ...validators };
  }
  return { sources, upstream };
}

async function takeCandidate(
  { archive, snapshot }: Pick<FetchDependencies, "archive" | "snapshot">,
  { runId, upstream }: ArchivedCandidate,
): Promise<FetchedSources> {
  if (!(await areArchived(archive, upstream)))
    throw new RunFault("candidate_gone", `the files of run ${runId} are no longer archived`);
  const hashes = Object.entries(upstream).map(([name, { sha256 }]) => [name, sha256]);
  return { sources: { snapshot: snapshot.sha256, ...Object.fromEntries(hashes) }, upstream };
}

export async function areArchived(
  archive: Pick<SourceArchive, "read">,
  files: UpstreamFiles,
): Promise<boolean> {
  const present = await presentFiles(archive, files);
  return Object.keys(files).every((name) => present[name] !== undefined);
}

/** Selects the files whose archived bytes are intact. Upstream need not send them again. */
async function presentFiles(
  archive: Pick<SourceArchive, "read">,
  archived: UpstreamFiles,
): Promise<UpstreamFiles> {
  const present: { [file: string]: ArchivedFile } = {};
  for (const [name, file] of Object.entries(archived))
    if (await isIntact(archive, file.sha256)) present[name] = file;
  return present;
}

async function isIntact(archive: Pick<SourceArchive, "read">, sha256: Sha256Hex): Promise<boolean> {
  const bytes = await archive.read(sha256);
  if (bytes === null) return false;
  releaseBuffer(bytes);
  return true;
}

/** Archives bytes, unless they are archived intact; mode `full` archives all. Returns their hash. */
export async function archiveFile(
  archive: Pick<SourceArchive, "read" | "write">,
  bytes: Uint8Array,
  mode: RunMode,
): Promise<Sha256Hex> {
  const sha256 = sha256Hex(bytes);
  if (mode === "full" || !(await isIntact(archive, sha256))) await archive.write(sha256, bytes);
  return sha256;
}
