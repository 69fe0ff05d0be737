import { setTimeout as sleep } from "node:timers/promises";
import { type Binding, chooseFault, type Fault, type FaultPlan, NO_FAULTS } from "./fault-plan.ts";
import { Random } from "./random.ts";

/** Longer than any deadline of the callers. */
const HANG_MS = { read: 20_000, write: 8_000 };
const SLOW_MAX_MS = 1_500;

const POSSIBLE: { readonly [K in "read" | "write"]: readonly Fault[] } = {
  read: ["throw", "hang", "slow"],
  write: ["throw", "hang", "slow", "lost_reply"],
};

/** A call to a binding. */
export interface FaultyCall<T> {
  readonly binding: Binding;
  readonly operation: string;
  readonly kind: "read" | "write";
  readonly call: () => Promise<T>;
  /** What the call shows instead, by the faults that it can have besides those of all. */
  readonly damage?: { readonly [F in Fault]?: (value: T) => T | Promise<T> };
}

/**
 * How often faults were injected, by binding, operation and fault. A value that was not changed does
 * not count, unless there was none.
 */
export interface Injected {
  readonly [what: string]: number;
}

/** Decides about each call to a binding, and counts what was done to it. */
export class FaultyCalls {
  #plan = NO_FAULTS;
  #random = new Random(0, "faults");
  #times = new Map<string, number>();

  set plan(plan: FaultPlan) {
    this.#plan = plan;
    this.#random = new Random(plan.seed, "faults");
  }

  /** The faults injected since the last look. */
  takeInjected(): Injected {
    const injected = Object.fromEntries(this.#times);
    this.#times = new Map();
    return injected;
  }

  async make<T>(faulty: FaultyCall<T>): Promise<T> {
    const { binding, operation, kind, call, damage = {} } = faulty;
    const fault = this.#choose(faulty);
    if (fault === undefined) return call();
    const show = damage[fault];
    if (show !== undefined) {
      const value = await call();
      const shown = await show(value);
      if (shown !== value || value === null) this.#count(faulty, fault);
      return shown;
    }
    this.#count(faulty, fault);
    const refusal = new Error(`injected: ${binding} ${operation} ${fault}`);
    switch (fault) {
      case "throw":
        throw refusal;
      case "hang":
        await sleep(HANG_MS[kind]);
        throw refusal;
      case "slow":
        await sleep(this.#random.between(1, SLOW_MAX_MS));
        return call();
      case "lost_reply":
        await call();
        throw refusal;
      case "corrupt":
      case "missing":
      case "stale":
        throw new Error(`${operation} of ${binding} cannot be ${fault}`);
      default:
        return fault satisfies never;
    }
  }

  #choose<T>({ binding, kind, damage = {} }: FaultyCall<T>): Fault | undefined {
    const possible = new Set([...POSSIBLE[kind], ...(Object.keys(damage) as Fault[])]); // its keys
    return chooseFault(this.#plan.rates[binding] ?? {}, possible, this.#random.next());
  }

  #count(
    { binding, operation }: Pick<FaultyCall<never>, "binding" | "operation">,
    fault: Fault,
  ): void {
    const what = `${binding} ${operation} ${fault}`;
    this.#times.set(what, (this.#times.get(what) ?? 0) + 1);
  }

  /** Other bytes: a flipped bit, or the end cut off. */
  corrupt(bytes: ArrayBuffer): ArrayBuffer {
    if (bytes.byteLength === 0) return bytes;
    const at = this.#random.between(0, bytes.byteLength - 1);
    if (this.#random.chance(0.3)) return bytes.slice(0, at);
    const flipped = new Uint8Array(bytes.slice(0));
    flipped[at] = (flipped[at] ?? 0) ^ (1 << this.#random.between(0, 7));
    return flipped.buffer;
  }
}
