import { dayOf } from "./as-of.ts";
import { fileNames, nameFile, type Table, TABLES, tooLarge } from "./source-file.ts";
import { SourceError } from "./source-error.ts";
import type { NewUpstreamFile, WholeUpstream } from "./upstream.ts";

/** A place where operators drop files by hand. */
export interface DropBox {
  /** What the names of its files begin with, for messages, such as `drop/`. */
  readonly prefix: string;
  /** Null if there is no file of that name. Throws if the store refuses. */
  open(name: string): Promise<DroppedFile | null>;
}

/** A file that is read or discarded, once. */
export interface DroppedFile {
  /** How many bytes there are. */
  readonly size: number;
  readonly droppedAt: Date;
  /** All its bytes. Throws if the store fails or takes too long. */
  read(): Promise<ArrayBuffer>;
  /** Lets go of it unread. */
  discard(): Promise<void>;
}

/**
 * Airports and regions from files that an operator has dropped, each plain or gzip. They are read
 * one after the other: a run that begins between two drops gets the one new and the other old.
 */
export function droppedUpstream(
  box: DropBox,
  limits: { readonly maxBytes: number },
): WholeUpstream {
  return {
    name: "dropped",
    async fetch() {
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
