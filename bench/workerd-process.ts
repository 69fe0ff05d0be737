import { readdirSync, readFileSync } from "node:fs";

/** Linux counts CPU time in hundredths of a second (USER_HZ). */
const MS_PER_TICK = 10;

/** CPU time (ms) that the workerd processes which this process started have used. */
export function workerdCpuMs(): number {
  return workerdProcesses().reduce((sum, { fields }) => {
    const [user, system] = [fields[11], fields[12]];
    return sum + (Number(user) + Number(system)) * MS_PER_TICK;
  }, 0);
}

/** Most memory (MB) that workerd has had resident. */
export function workerdPeakMb(): number {
  return workerdMemoryMb("VmHWM");
}

/** Memory (MB) that workerd has resident at present. */
export function workerdResidentMb(): number {
  return workerdMemoryMb("VmRSS");
}

function workerdMemoryMb(field: "VmHWM" | "VmRSS"): number {
  return workerdProcesses().reduce((sum, { pid }) => {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return sum + Number(new RegExp(`^${field}:\\s*(\\d+)`, "m").exec(status)?.[1] ?? 0) / 1024;
  }, 0);
}

function workerdProcesses(): { readonly pid: string; readonly fields: readonly string[] }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const stat = readStat(pid);
      const end = stat.lastIndexOf(")");
      const fields = stat.slice(end + 2).split(" ");
      const isOurs = stat.includes("(workerd)") && fields[1] === String(process.pid);
      return isOurs ? [{ pid, fields }] : [];
    });
}

function readStat(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return "";
  }
}
