/** The rules of held changes, apart from their schema, which the pages do not load. */

/** Why an operator should look at a change; the most urgent rule first. */
export const HELD_RULES = [
  "obscene",
  "moves",
  "changes_code",
  "changes_name",
  "leaves",
  "service_lost",
  "demoted",
  "appears",
  "disputed",
] as const;
export type HeldRule = (typeof HELD_RULES)[number];

/** A longer move is worth a look. */
export const MOVE_KM = 20;

export const DECISIONS = {
  approve: "Queues a run, which publishes what upstream says, if it still says so.",
  reject: "The served value stays until upstream says something else.",
} as const;
