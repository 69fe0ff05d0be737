import { existsSync, readdirSync, readFileSync } from "node:fs";

/** A process, told apart from a later one with the same id where the system says when it began. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from boot to its start, as in proc_pid_stat(5); null where there is no /proc. */
  readonly startedAt: string | null;
}

interface Stat {
  readonly state: string;
  readonly group: number;
  readonly startedAt: string;
}

export function identify(pid: number): ProcessIdentity {
  return { pid, startedAt: readStat(pid)?.startedAt ?? null };
}

/** Whether this very process still runs. */
export function isRunning({ pid, startedAt }: ProcessIdentity): boolean {
  if (startedAt === null || !hasProc()) return takesSignals(pid);
  const stat = readStat(pid);
  return stat !== undefined && stat.startedAt === startedAt && !hasEnded(stat);
}

/** Whether a process still runs of the group that this process led, also after its own end. */
export function isGroupRunning({ pid, startedAt }: ProcessIdentity): boolean {
  if (!hasProc()) return takesSignals(-pid);
  const leader = readStat(pid);
  if (leader !== undefined && startedAt !== null && leader.startedAt !== startedAt) return false;
  return readdirSync("/proc").some((name) => {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : undefined;
    return stat !== undefined && stat.group === pid && !hasEnded(stat);
  });
}

function hasProc(): boolean {
  return existsSync("/proc/self/stat");
}

/** Undefined if there is no such process. */
function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before them, in parentheses, may have anything in it.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [state = "", , group = ""] = fields;
    return { state, group: Number(group), startedAt: fields[19] ?? "" };
  } catch {
    return undefined;
  }
}

/** Whether it only waits for its parent to take notice. */
function hasEnded({ state }: Stat): boolean {
  return state === "Z" || state === "X";
}

/** @param id of a process, or of a group if negative. */
function takesSignals(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch {
    return false;
  }
}
