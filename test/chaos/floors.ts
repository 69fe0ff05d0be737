/** How much a run must have seen to prove anything. Pure. */

/** The counts from the first fault to the last. */
export interface Coverage {
  /** How long faults were injected. */
  readonly seconds: number;
  /** Successes whose bodies were checked to the byte. */
  readonly checked: number;
  readonly kills: number;
  readonly publications: number;
  /** Faults. */
  readonly injected: number;
}

/** An idle machine checks fifty times as many answers. */
const SECONDS_PER_CHECKED = 3;
/** Kills and faults come several times a minute. */
const SECONDS_PER_EVENT = 300;
/** A shorter run may end before it sees a kill. */
const SECONDS_FOR_EVENTS = 60;
/** Stores that are down, pauses and kills may well let a minute pass without a publication. */
const SECONDS_PER_PUBLICATION = 300;

/** Describes the counts that are too low. */
export function findTooLittle(coverage: Coverage): string[] {
  const { seconds, checked, kills, publications, injected } = coverage;
  const events = seconds < SECONDS_FOR_EVENTS ? 0 : Math.ceil(seconds / SECONDS_PER_EVENT);
  const floors: readonly (readonly [string, number, number])[] = [
    ["successes checked to the byte", checked, Math.floor(seconds / SECONDS_PER_CHECKED)],
    ["kills of the process", kills, events],
    ["publications", publications, Math.floor(seconds / SECONDS_PER_PUBLICATION)],
    ["injected faults", injected, events],
  ];
  return floors
    .filter(([, seen, least]) => seen < least)
    .map(([what, seen, least]) => `${what}: ${seen} in ${seconds} s, at least ${least} wanted`);
}
