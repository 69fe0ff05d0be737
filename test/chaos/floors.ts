/** How much a run must have seen to prove anything. Pure. */

/** How often a fault hit, and how often it was to be expected to. */
export interface InjectedFault {
  readonly times: number;
  /** The sum of its chances, over the calls that it could have hit. */
  readonly expected: number;
}

/** Both together. */
export function addInjected(
  known: InjectedFault = { times: 0, expected: 0 },
  { times, expected }: InjectedFault,
): InjectedFault {
  return { times: known.times + times, expected: known.expected + expected };
}

/** What was seen from the first fault to the last. */
export interface Coverage {
  /** How long faults were injected. */
  readonly seconds: number;
  /** Successes whose bodies were checked to the byte. */
  readonly checked: number;
  readonly kills: number;
  readonly publications: number;
  /** By binding and fault, such as `kv missing`. */
  readonly injected: { readonly [fault: string]: InjectedFault };
}

/** An idle machine checks fifty times as many answers. */
const SECONDS_PER_CHECKED = 3;
/** Kills and faults come several times a minute. */
const SECONDS_PER_EVENT = 300;
/** A shorter run may end before it sees a kill. */
const SECONDS_FOR_EVENTS = 60;
/** Stores that are down, pauses and kills may well let a minute pass without a publication. */
const SECONDS_PER_PUBLICATION = 300;
/** With so many expected, one run in three million has none. */
const CERTAIN_TIMES = 15;

/** What there was too little of, in words; nothing if the run has seen enough. */
export function findTooLittle(coverage: Coverage): string[] {
  const { seconds, checked, kills, publications, injected } = coverage;
  const events = seconds < SECONDS_FOR_EVENTS ? 0 : Math.ceil(seconds / SECONDS_PER_EVENT);
  const faults = Object.values(injected).reduce((sum, { times }) => sum + times, 0);
  const floors: readonly (readonly [string, number, number])[] = [
    ["successes checked to the byte", checked, Math.floor(seconds / SECONDS_PER_CHECKED)],
    ["kills of the process", kills, events],
    ["publications", publications, Math.floor(seconds / SECONDS_PER_PUBLICATION)],
    ["injected faults", faults, events],
  ];
  const few = floors
    .filter(([, seen, least]) => seen < least)
    .map(([what, seen, least]) => `${what}: ${seen} in ${seconds} s, at least ${least} wanted`);
  const without = Object.entries(injected)
    .filter(([, { times, expected }]) => times === 0 && expected >= CERTAIN_TIMES)
    .map(([fault, { expected }]) => `${fault}: never, ${Math.round(expected)} times expected`);
  return [...few, ...without];
}
