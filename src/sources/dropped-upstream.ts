import { asEvidence } from "../catalog/evidence.ts";
import type { Day, EpochMs } from "../platform/units.ts";
import { ourAirports } from "./our-airports.ts";
import { fileNames, isPastDay, nameFile, type Table, TABLES, tooLarge } from "./source-file.ts";
import { SourceError } from "./source-error.ts";
import type { ArchivedFiles, NewUpstreamFile } from "./upstream.ts";

/** Storage where operators drop files by hand. */
export interface DropBox {
  /** Prefix of the file names in messages, such as `drop/`. */
  readonly prefix: string;
  /** Finds a file. Returns null if it does not exist. Throws if the store fails. */
  find(name: string): Promise<DroppedFile | null>;
  /** Reads all bytes of a file. Throws if it is gone, or the store fails or is too slow. */
  read(name: string): Promise<ArrayBuffer>;
}

interface DroppedFile {
  readonly size: number;
  /** Date of the data in the file's metadata; undefined if missing. */
  readonly as_of: Day | undefined;
}

interface DropLimits {
  readonly maxBytes: number;
  readonly now: () => EpochMs;
}

/**
 * Reads airports and regions from dropped files in OurAirports' format, plain or gzip. It reads one
 * file after the other: a run that starts between two drops gets one new and one old file.
 *
 * The day of a drop says nothing about the data. Their date is that of the request, else of the file's
 * metadata, else the one that the same bytes had in the last run, else unknown.
 */
export function droppedUpstream(box: DropBox, limits: DropLimits) {
  return {
    reader: ourAirports,
    async fetch(_archived?: ArchivedFiles, as_of?: Day): Promise<NewUpstreamFile[]> {
      const files: NewUpstreamFile[] = [];
      for (const table of TABLES) files.push(await readTable(table, box, { ...limits, as_of }));
      return files;
    },
  };
}

async function readTable(
  table: Table,
  box: DropBox,
  { maxBytes, now, as_of: requested }: DropLimits & { readonly as_of: Day | undefined },
): Promise<NewUpstreamFile> {
  const { dropped, file } = await findDropped(table, box);
  const where = `${box.prefix}${dropped}`;
  const as_of = requested ?? file.as_of;
  if (as_of !== undefined && !isPastDay(as_of, now()))
    throw new SourceError(
      "bad_date",
      `the date “${asEvidence(as_of)}” of ${where} is no past day, such as 2026-02-28; correct it in the request or in the metadata of the file`,
    );
  if (file.size > maxBytes) throw tooLarge(where, maxBytes, file.size);
  const bytes = new Uint8Array(await box.read(dropped));
  const name = nameFile(table, { where, bytes, maxBytes });
  return { name, bytes, ...(as_of !== undefined && { as_of }) };
}

async function findDropped(
  table: Table,
  box: DropBox,
): Promise<{ dropped: string; file: DroppedFile }> {
  const found: { dropped: string; file: DroppedFile }[] = [];
  for (const dropped of fileNames(table)) {
    const file = await box.find(dropped);
    if (file !== null) found.push({ dropped, file });
  }
  const [first, ...others] = found;
  const names = fileNames(table).map((name) => `${box.prefix}${name}`);
  if (first === undefined)
    throw new SourceError(
      "missing_file",
      `there is neither ${names.join(" nor ")}; put one of them there`,
    );
  if (others.length === 0) return first;
  throw new SourceError(
    "ambiguous_file",
    `there is both ${names.join(" and ")}; delete the wrong one`,
  );
}
