/**
 * The one owner of what is stored. A copy is one record that is complete, which its hash proves, or it
 * is none. Nothing here throws, and nothing waits longer than `STORE_MS` for a medium.
 *
 * Accepted race: two programs that write to one folder at the same moment. Each record is whole, and
 * the next refresh replaces the older one.
 */
import type { CatalogCopy } from "./read-answer.ts";
import { sha256Of } from "./sha256.ts";
import type { KnownFiles } from "./search-files.ts";
import { orAborted } from "./joint.ts";
import { isTexts } from "./search/shape.ts";
import { withDeadline } from "./deadline.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Where bytes are by key. It may refuse, be damaged, or never answer. */
export interface Medium {
  read(key: string): Promise<Bytes | undefined>;
  /** Replaces a value by what is made of it, unless that is undefined. No reader sees half of one. */
  replace(key: string, next: (before: Bytes | undefined) => Bytes | undefined): Promise<void>;
  delete(key: string): Promise<void>;
  keys(): Promise<readonly string[]>;
}

/** Everything that a search or a catalog is made of. */
export interface Copy extends Age {
  /** Absent in a search without a catalog. */
  readonly catalog?: CatalogCopy;
  readonly files: KnownFiles;
}

/** By which a copy is newer than another one. */
interface Age {
  /** `Catalog-Version`; 0 without a catalog. */
  readonly version: number;
  /** When the look at the service began that it comes from, in ms since 1970. */
  readonly lookedAt: number;
}

/** A medium that takes longer is done without. */
export const STORE_MS = 1500;

/** A copy that has not changed is stored again only after so long, for the time of the look. */
const SAME_COPY_MS = 3_600_000;

/** Of the records. Another one is none. */
const FORMAT = 1;

/** The first line of a record. */
interface Head extends Age {
  readonly format: number;
  /** Of all that follows the line. */
  readonly sha256: string;
}

const NEWLINE = "\n".charCodeAt(0);

export class Store {
  readonly #medium: Medium | undefined;
  /** How many calls of the medium have not ended in time, and may never end. */
  #overdue = 0;

  constructor(medium?: Medium) {
    this.#medium = medium;
  }

  /** Returns the copy of a key; undefined if there is none that is complete. Deletes what is damaged. */
  async read(key: string): Promise<Copy | undefined> {
    const record = await this.#inTime((medium) => medium.read(key));
    if (record === undefined) return undefined;
    const copy = await decode(record).catch(() => undefined);
    if (copy === undefined) await this.#inTime((medium) => medium.delete(key));
    return copy;
  }

  /** Stores a copy, unless another tab or program has stored a newer one. */
  async write(key: string, copy: Copy): Promise<void> {
    if (this.#medium === undefined) return;
    const record = await encode(copy);
    await this.#inTime((medium) =>
      medium.replace(key, (before) => {
        const head = before && readHead(before);
        return head !== undefined && isToStay(head, readHead(record)) ? undefined : record;
      }),
    );
  }

  /** Lists the keys below a prefix that were used last, the last one first. */
  async lastUsed(prefix: string): Promise<readonly string[]> {
    return readList(await this.#inTime((medium) => medium.read(prefix)));
  }

  /** Deletes what is below a prefix, but the copies of as many keys as were used last. */
  async keepLastUsed(prefix: string, key: string, count: number): Promise<void> {
    await this.#inTime(async (medium) => {
      let kept: readonly string[] = [];
      await medium.replace(prefix, (before) => {
        kept = [key, ...readList(before).filter((other) => other !== key)].slice(0, count);
        return encodeText(JSON.stringify(kept));
      });
      for (const other of await medium.keys())
        if (other.startsWith(`${prefix} `) && !kept.includes(other)) await medium.delete(other);
    });
  }

  /** Returns undefined if the medium fails, or is late. While a call is overdue, it is left alone. */
  async #inTime<T>(work: (medium: Medium) => Promise<T>): Promise<T | undefined> {
    if (this.#medium === undefined || this.#overdue > 0) return undefined;
    const ended = work(this.#medium).catch(() => undefined);
    try {
      return await withDeadline(STORE_MS, (deadline) => orAborted(ended, deadline));
    } catch {
      this.#overdue++;
      void ended.then(() => this.#overdue--);
      return undefined;
    }
  }
}

/** Stores nothing. */
export const NO_STORE = new Store();

/** Whether a copy is newer than another one. A time in the future comes from a wrong clock. */
export function isNewer(one: Age, other: Age): boolean {
  if (one.version !== other.version) return one.version > other.version;
  return one.lookedAt > other.lookedAt && one.lookedAt <= Date.now();
}

/** Whether a stored copy is newer than one, or the same and was not stored long ago. */
function isToStay(stored: Head, head: Head | undefined): boolean {
  if (head === undefined || isNewer(stored, head)) return true;
  const age = head.lookedAt - stored.lookedAt;
  const isSame = stored.version === head.version && stored.sha256 === head.sha256;
  return isSame && age >= 0 && age < SAME_COPY_MS;
}

/** A line with the head, one with the parts, and the bytes of the catalog. */
async function encode(copy: Copy): Promise<Bytes> {
  const { lookedAt, version, files } = copy;
  const { bytes = new Uint8Array(), ...catalog } = copy.catalog ?? {};
  const parts = JSON.stringify({ files, ...(copy.catalog && { catalog }) });
  const body = joined(encodeText(`${parts}\n`), bytes);
  const sha256 = await sha256Of(body);
  const head: Head = { format: FORMAT, version, lookedAt, sha256 };
  return joined(encodeText(`${JSON.stringify(head)}\n`), body);
}

async function decode(record: Bytes): Promise<Copy | undefined> {
  const head = readHead(record);
  if (head === undefined) return undefined;
  const body = record.slice(record.indexOf(NEWLINE) + 1);
  if ((await sha256Of(body)) !== head.sha256) return undefined;
  const end = body.indexOf(NEWLINE);
  const text = new TextDecoder().decode(body.subarray(0, end));
  const { catalog, files } = JSON.parse(text) as Copy; // of this format, as the hash proves
  const bytes = body.slice(end + 1);
  return {
    version: head.version,
    // Later than now by a wrong clock alone.
    lookedAt: Math.min(head.lookedAt, Date.now()),
    files,
    ...(catalog && { catalog: { ...catalog, bytes } }),
  };
}

/** Reads the first line; undefined if that is no record of this format. */
function readHead(record: Bytes): Head | undefined {
  try {
    const line = new TextDecoder().decode(record.subarray(0, record.indexOf(NEWLINE)));
    const head = JSON.parse(line) as Head; // if the format is this one
    return head.format === FORMAT ? head : undefined;
  } catch {
    return undefined;
  }
}

function readList(bytes: Bytes | undefined): readonly string[] {
  try {
    const list: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isTexts(list) ? list : [];
  } catch {
    return [];
  }
}

function encodeText(text: string): Bytes {
  return new Uint8Array(new TextEncoder().encode(text));
}

function joined(...parts: readonly Bytes[]): Bytes {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
