import type { Copy, CopyFault, Replica } from "./catalog-store.ts";
import { settledWithin } from "../platform/deadline.ts";
import { isRecent } from "../platform/time.ts";
import type { EpochMs } from "../platform/units.ts";

/** Silence of KV after which R2 is read as well. KV answers a cold read within about 100 ms. */
export const HEDGE_AFTER_MS = 400;
/** Faults in a row after which a store is skipped. */
const STORE_FAULTS = 3;
/** Faults after which an object that neither store has intact is left alone. */
const OBJECT_FAULTS = 1;
/** How long a failed store or object is left alone; afterwards one read at a time is a trial. */
const LEFT_ALONE_MS = 2_000;
/** Enough for a few failures per body of a version. */
const FAILURES_MAX = 1_024;

interface Dependencies {
  readonly now: () => EpochMs;
  /** Logs a copy that could not be used. */
  readonly report: (event: string, detail: string) => void;
}

interface WantedObject<T> {
  /** Kind of the object, for the log: `blob`. */
  readonly what: string;
  /** Distinguishes it from others of its kind. */
  readonly key: string;
  readonly read: (replica: Replica) => Promise<Copy<T>>;
}

/** A race between both stores. */
interface Race {
  /** Whether R2 has answered before a silent KV, which counts as a fault of KV. */
  isLost: boolean;
}

/**
 * Reads copies from KV, and from R2 if KV fails or is silent; the first intact copy wins. After three
 * faults in a row it skips a store, and after one it skips an object that neither store has intact,
 * apart from a trial every two seconds. Never rejects.
 */
export class StoreReads {
  readonly #report: Dependencies["report"];
  readonly #failures: FailureMemory;

  constructor({ now, report }: Dependencies) {
    this.#report = report;
    this.#failures = new FailureMemory(now);
  }

  /** Reads from either store. The fault is `unreadable` if a store may still have an intact copy. */
  async read<T>(wanted: WantedObject<T>): Promise<Copy<T>> {
    return this.#unlessLost(wanted, () => this.#readEither(wanted));
  }

  /** Reads from R2, which never lags behind what was published. */
  async readR2<T>(wanted: WantedObject<T>): Promise<Copy<T>> {
    return this.#unlessLost(wanted, () => this.#readFrom("r2", wanted, { isLost: false }));
  }

  /** Does not remember an unreadable object, because the fault is the store's. */
  async #unlessLost<T>(
    { what, key }: WantedObject<T>,
    read: () => Promise<Copy<T>>,
  ): Promise<Copy<T>> {
    const name = `${what} ${key}`;
    const known = this.#failures.find(name, OBJECT_FAULTS);
    if (known !== undefined) return known;
    const copy = await read();
    if (copy.ok || copy.fault === "unreadable") this.#failures.forget(name);
    else this.#failures.add(name, copy);
    return copy;
  }

  async #readEither<T>(wanted: WantedObject<T>): Promise<Copy<T>> {
    const race: Race = { isLost: false };
    const near = this.#readFrom("kv", wanted, race);
    const first = await settledWithin(HEDGE_AFTER_MS, near, () => "silent" as const);
    if (first !== "silent" && first.ok) return first;
    const far = this.#readFrom("r2", wanted, { isLost: false });
    try {
      const winner = await Promise.any([rightCopy("kv", near), rightCopy("r2", far)]);
      if (first === "silent" && winner.replica === "r2") {
        race.isLost = true;
        const detail = `kv: R2 answered first, after ${HEDGE_AFTER_MS} ms`;
        this.#failures.add("kv", { ok: false, fault: "unreadable", detail });
        this.#report(`${wanted.what}_silent`, detail);
      }
      return winner.copy;
    } catch {
      return worstFault([await near, await far]) ?? near;
    }
  }

  async #readFrom<T>(
    replica: Replica,
    { what, read }: WantedObject<T>,
    race: Readonly<Race>,
  ): Promise<Copy<T>> {
    const known = this.#failures.find(replica, STORE_FAULTS);
    if (known !== undefined) return known;
    const copy = await read(replica);
    if (!copy.ok) this.#report(`${what}_${copy.fault}`, `${replica} ${copy.detail}`);
    if (race.isLost) return copy;
    if (!copy.ok && copy.fault === "unreadable") this.#failures.add(replica, copy);
    else this.#failures.forget(replica);
    return copy;
  }
}

/** Returns the least certain fault: `unreadable`, else `corrupt`, else `missing`. */
export function worstFault(copies: readonly Copy<unknown>[]): CopyFault | undefined {
  const faults = copies.filter((copy): copy is CopyFault => !copy.ok);
  for (const fault of ["unreadable", "corrupt", "missing"] as const) {
    const found = faults.find((copy) => copy.fault === fault);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function rightCopy<T>(replica: Replica, reading: Promise<Copy<T>>) {
  const copy = await reading;
  if (!copy.ok) throw new Error(copy.detail);
  return { replica, copy };
}

interface Failure {
  readonly fault: CopyFault;
  readonly inARow: number;
  readonly readAt: EpochMs;
}

/** Recent failures: of a store by its name, of an object by its kind and key. */
class FailureMemory {
  readonly #now: () => EpochMs;
  readonly #failures = new Map<string, Failure>();

  constructor(now: () => EpochMs) {
    this.#now = now;
  }

  /** Returns the last of that many faults in a row; undefined if a trial is due, as every two seconds. */
  find(name: string, faults: number): CopyFault | undefined {
    const known = this.#failures.get(name);
    if (known === undefined || known.inARow < faults) return undefined;
    const now = this.#now();
    if (isRecent(known.readAt, LEFT_ALONE_MS, now)) return known.fault;
    this.#failures.set(name, { ...known, readAt: now });
    return undefined;
  }

  add(name: string, fault: CopyFault): void {
    const inARow = (this.#failures.get(name)?.inARow ?? 0) + 1;
    this.#failures.delete(name);
    const [oldest] = this.#failures.keys();
    if (oldest !== undefined && this.#failures.size >= FAILURES_MAX) this.#failures.delete(oldest);
    this.#failures.set(name, { fault, inARow, readAt: this.#now() });
  }

  forget(name: string): void {
    this.#failures.delete(name);
  }
}
