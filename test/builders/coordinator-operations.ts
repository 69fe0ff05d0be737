/** Random operations on a coordinator, and mishaps in its steps. */
import fc from "fast-check";
import { RUN_MODES } from "../../src/schemas/run-words.ts";

/** What happens at a call of a step. */
interface Mishap {
  readonly kind: (typeof MISHAPS)[number];
  /** Calls of the step before it. */
  readonly after: number;
  /** Calls in a row that a fault hits. */
  readonly times: number;
}

const MISHAPS = ["fault", "crash", "pause", "cancel", "rollback", "lost_reply"] as const;

const anyMishap: fc.Arbitrary<Mishap> = fc.record({
  kind: fc.constantFrom("fault", ...MISHAPS),
  after: fc.nat(7),
  times: fc.constantFrom(1, 1, 3, 100),
});

const SOURCES = ["embedded", "other"] as const;

/** What people and the world do to a coordinator. */
export const anyOperation = fc.oneof(
  operation(8, "step", { late: fc.boolean(), mishap: fc.option(anyMishap, { freq: 4 }) }),
  operation(5, "enqueue", {
    mode: fc.constantFrom(...RUN_MODES),
    forced: fc.boolean(),
    source: fc.constantFrom(...SOURCES),
    reject: fc.boolean(),
  }),
  operation(2, "change", { text: fc.constantFrom<string>("a", "b", "c", "bad a", "bad b") }),
  operation(1, "pause", {
    // Null for without end, `kept` for as the present pause has it.
    forMs: fc.constantFrom<number | null | "kept">("kept", null, 0, 1_000, 40_000),
    cancelRunning: fc.boolean(),
  }),
  operation(1, "resume", {}),
  operation(1, "crash", {}),
  operation(3, "go_on", {}),
  operation(2, "reconcile", { hours: fc.constantFrom<number>(0, 1, 25) }),
  operation(1, "tick", { at: fc.nat(3) }),
  operation(1, "cancel", { which: fc.nat(5) }),
  operation(2, "rollback", { back: fc.nat(3) }),
  operation(1, "pass", { ms: fc.constantFrom<number>(500, 50_000) }),
);
export type Operation = typeof anyOperation extends fc.Arbitrary<infer Value> ? Value : never;

function operation<Does extends string, Fields extends object>(
  weight: number,
  does: Does,
  fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
) {
  const arbitrary = fc.record(fields).map((values) => ({ do: does, ...values }));
  return { weight, arbitrary };
}
