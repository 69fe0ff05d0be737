/**
 * The Worker's clock, which the harness sets forward and back. Imported before everything that reads
 * the clock. Alarms fire when this clock shows their time, as those of a machine do.
 */

const readClock = Date.now;
/** An alarm that a clock set back has put off for years. */
const FARTHEST_MS = 24 * 60 * 60 * 1000;
let offsetMs = 0;

Date.now = () => readClock() + offsetMs;

/** Sets the clock's offset from the machine's. */
export function setClock(ms: number): void {
  offsetMs = ms;
}

export function clockOffset(): number {
  return offsetMs;
}

/** Makes the alarms of a Durable Object follow this clock. */
export function withClock(ctx: DurableObjectState): DurableObjectState {
  const { storage } = ctx;
  const setAlarm = storage.setAlarm.bind(storage);
  const getAlarm = storage.getAlarm.bind(storage);
  Object.defineProperties(storage, {
    setAlarm: {
      value: async (at: number) => setAlarm(Math.min(at - offsetMs, readClock() + FARTHEST_MS)),
    },
    getAlarm: {
      value: async () => {
        const at = await getAlarm();
        return at === null ? null : at + offsetMs;
      },
    },
  });
  return ctx;
}

/** Moves the alarm to its time by the present clock, which had another offset before. */
export async function moveAlarm({ storage }: DurableObjectState, before: number): Promise<void> {
  const at = await storage.getAlarm();
  if (at !== null) await storage.setAlarm(at - offsetMs + before);
}
