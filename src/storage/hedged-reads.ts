import { Breaker } from "./breaker.ts";
import type { ReaderDependencies } from "./catalog-reader.ts";
import type { Copy, Fault, Replica } from "./catalog-store.ts";
import { settledWithin } from "./deadline.ts";

/** Silence of KV after which R2 is read as well. KV answers a cold read within about 100 ms. */
const HEDGE_AFTER_MS = 400;

type Read<T> = (replica: Replica) => Promise<Copy<T>>;

/** A race between both stores. */
interface Race {
  /** Whether R2 has answered before a silent KV, which counts as a fault of KV. */
  isLost: boolean;
}

/**
 * Reads copies from KV, and from R2 if KV fails or is silent; the first right copy wins. A store
 * that fails several times in a row is skipped, apart from a trial every two seconds.
 */
export class HedgedReads {
  readonly #report: ReaderDependencies["report"];
  readonly #breakers: { readonly [R in Replica]: Breaker };

  constructor({ now, report }: Pick<ReaderDependencies, "now" | "report">) {
    this.#report = report;
    this.#breakers = { kv: new Breaker(now), r2: new Breaker(now) };
  }

  /** Reads from either store. The fault is `unreadable` if a store may still have a right copy. */
  async read<T>(what: string, read: Read<T>): Promise<Copy<T>> {
    const race: Race = { isLost: false };
    const near = this.readFrom("kv", what, read, race);
    const first = await settledWithin(HEDGE_AFTER_MS, near, () => "silent" as const);
    if (first !== "silent" && first.ok) return first;
    const far = this.readFrom("r2", what, read);
    try {
      const winner = await Promise.any([rightCopy("kv", near), rightCopy("r2", far)]);
      if (first === "silent" && winner.replica === "r2") {
        race.isLost = true;
        this.#breakers.kv.failed();
        this.#report(`${what}_silent`, `kv: R2 answered first, after ${HEDGE_AFTER_MS} ms`);
      }
      return winner.copy;
    } catch {
      return worstFault([await near, await far]) ?? near;
    }
  }

  /** Reads from one store, and reports a copy that cannot be used. */
  async readFrom<T>(
    replica: Replica,
    what: string,
    read: Read<T>,
    race: Readonly<Race> = ALONE,
  ): Promise<Copy<T>> {
    const breaker = this.#breakers[replica];
    if (!breaker.allows())
      return { ok: false, fault: "unreadable", detail: `${replica} is skipped after its faults` };
    const copy = await read(replica);
    if (!copy.ok) this.#report(`${what}_${copy.fault}`, `${replica} ${copy.detail}`);
    if (race.isLost) return copy;
    if (!copy.ok && copy.fault === "unreadable") breaker.failed();
    else breaker.answered();
    return copy;
  }
}

const ALONE: Race = { isLost: false };

/** Returns the fault after which least is known: `unreadable` before `corrupt` and `missing`. */
export function worstFault(copies: readonly Copy<unknown>[]): Fault | undefined {
  const faults = copies.filter((copy): copy is Fault => !copy.ok);
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
