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

/** Decides about each call to a binding, and counts what was done to it. */
export class FaultyCalls {
  #plan = NO_FAULTS;
  #random = new Random(0, "faults");
  #injected = new Map<string, number>();

  set plan(plan: FaultPlan) {
    this.#plan = plan;
    this.#random = new Random(plan.seed, "faults");
  }

  /** What was injected since the last look. */
  takeInjected(): { readonly [what: string]: number } {
    const taken = Object.fromEntries(this.#injected);
    this.#injected = new Map();
    return taken;
  }

  async make<T>({ binding, operation, kind, call, damage = {} }: FaultyCall<T>): Promise<T> {
    const possible = new Set([...POSSIBLE[kind], ...(Object.keys(damage) as Fault[])]); // its keys
    const rates = this.#plan.rates[binding] ?? {};
    const fault = chooseFault(rates, possible, this.#random.next());
    if (fault === undefined) return call();
    const what = `${binding} ${operation} ${fault}`;
    this.#injected.set(what, (this.#injected.get(what) ?? 0) + 1);
    const refusal = new Error(`injected: ${what}`);
    switch (fault) {
      case "throw":
        throw refusal;
      case "hang":
        await sleep(this.#plan.hangMs ?? HANG_MS[kind]);
        throw refusal;
      case "slow":
        await sleep(this.#random.between(1, SLOW_MAX_MS));
        return call();
      case "lost_reply":
        await call();
        throw refusal;
      case "corrupt":
      case "missing":
      case "stale": {
        const value = await call();
        const show = damage[fault];
        return show === undefined ? value : show(value);
      }
      default:
        return fault satisfies never;
    }
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
