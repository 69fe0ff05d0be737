/** The operator's next action. Pure: all of it comes from the seed and the action's number. */
import { Random } from "./random.ts";

/** How often each action comes, beside the others. */
const WEIGHTS = {
  publish: 6,
  publishBad: 2,
  dryRun: 1,
  race: 1,
  pause: 3,
  rollBack: 4,
  cancel: 2,
  diff: 2,
  look: 3,
  tick: 2,
  force: 1,
  backUp: 2,
  restore: 2,
  reset: 2,
  meetOther: 3,
  hostile: 8,
  setClock: 3,
  copyBackup: 1,
  deleteBackup: 1,
} as const;
export type Action = keyof typeof WEIGHTS;

const ACTIONS = Object.entries(WEIGHTS).flatMap(
  ([action, weight]) => Array.from({ length: weight }, () => action as Action), // its keys
);
const REST_MAX_MS = 500;

export interface Choice {
  readonly action: Action;
  /** How long to rest after it. */
  readonly restMs: number;
  /** For what the action decides: its own, so that what one draws changes no other. */
  readonly random: Random;
}

/** The action of a number, the same for a seed whatever became of those before it. */
export function chooseAction(seed: number, number: number): Choice {
  const random = new Random(seed, `operator's action ${number}`);
  return { action: random.pick(ACTIONS), restMs: random.between(0, REST_MAX_MS), random };
}
