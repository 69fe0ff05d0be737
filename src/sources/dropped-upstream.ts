import { dayOf } from "./as-of.ts";
import { fileNames, nameFile, type Table, TABLES, tooLarge } from "./source-file.ts";
import { SourceError } from "./source-error.ts";
import type { NewUpstreamFile } from "./upstream.ts";

/** Storage where operators drop files by hand. */
export interface DropBox {
  /** Prefix of the file names in messages, such as `drop/`. */
  readonly prefix: string;
  /** Opens a file. Returns null if it does not exist. Throws if the store fails. */
  open(name: string): Promise<DroppedFile | null>;
}

/** An open file. Callers must read or discard it exactly once. */
interface DroppedFile {
  /** Length in bytes. */
  readonly size: number;
  readonly droppedAt: Date;
  /** Reads all bytes. Throws if the store fails or is too slow. */
  read(): Promise<ArrayBuffer>;
  /** Releases the file unread. */
  discard(): Promise<void>;
}

/**
 * Reads airports and regions from dropped files, plain or gzip. It reads one file after the other:
 * a run that begins between two drops gets one new and one old file.
 */
export function droppedUpstream(box: DropBox, limits: { readonly maxBytes: number }) {
  return {
    name: "dropped",
    async fetch(): Promise<NewUpstreamFile[]> {
      const files: NewUpstreamFile[] = [];
      for (const table of TABLES) files.push(await readTable(table, box, limits));
      return files;
    },
  };
}

async function readTable(
  table: Table,
  box: DropBox,
  { maxBytes }: { readonly maxBytes: number },
): Promise<NewUpstreamFile> {
  const { where, file } = await findDropped(table, box);
  if (file.size > maxBytes) {
    await file.discard();
    throw tooLarge(where, maxBytes, file.size);
  }
  const bytes = new Uint8Array(await file.read());
  const name = nameFile(table, { where, bytes, maxBytes });
  return { name, bytes, as_of: dayOf(file.droppedAt) };
}

async function findDropped(
  table: Table,
  box: DropBox,
): Promise<{ where: string; file: DroppedFile }> {
  const found: { where: string; file: DroppedFile }[] = [];
  for (const name of fileNames(table)) {
    const file = await box.open(name);
    if (file !== null) found.push({ where: `${box.prefix}${name}`, file });
  }
  const [first, ...others] = found;
  const names = fileNames(table).map((name) => `${box.prefix}${name}`);
  if (first === undefined)
    throw new SourceError(
      "missing_file",
      `there is neither ${names.join(" nor ")}; put one of them there`,
    );
  if (others.length === 0) return first;
  await Promise.all(found.map(({ file }) => file.discard()));
  throw new SourceError(
    "ambiguous_file",
    `there is both ${names.join(" and ")}; delete the one that is not meant`,
  );
}
