import { readdirSync, readFileSync } from "node:fs";

/** Linux counts CPU time in hundredths of a second (USER_HZ). */
const MS_PER_TICK = 10;

/** CPU time (ms) that the workerd processes which this process started have used. */
export function workerdCpuMs(): number {
  return workerdProcesses().reduce((sum, { fields }) => sum + cpuMs(fields), 0);
}

/** CPU time (ms) that a process has used. */
export function processCpuMs(pid: number | undefined): number {
  return cpuMs(fieldsOf(readStat(String(pid))));
}

function cpuMs(fields: readonly string[]): number {
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
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
      const fields = fieldsOf(stat);
      const isOurs = stat.includes("(workerd)") && fields[1] === String(process.pid);
      return isOurs ? [{ pid, fields }] : [];
    });
}

/** The fields of a process after its name. */
function fieldsOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function readStat(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return "";
  }
}
