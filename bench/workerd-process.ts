import { readdirSync, readFileSync } from "node:fs";

/** CPU time (ms) that the workerd processes which this process started have used. */
export function workerdCpuMs(): number {
  return workerdProcesses().reduce((sum, pid) => sum + processCpuMs(pid), 0);
}

/**
 * CPU time (ms) that the present threads of a process have used: finer than `stat`, which counts
 * hundredths of a second, but without threads that have ended, of which workerd has none.
 */
export function processCpuMs(pid: number | string | undefined): number {
  const threads = `/proc/${pid}/task`;
  const times = readdirSync(threads).map((thread) => {
    const [nanoseconds] = readIfThere(`${threads}/${thread}/schedstat`).split(" ");
    return Number(nanoseconds) / 1e6;
  });
  const ms = times.reduce((sum, time) => sum + time, 0);
  if (ms > 0) return ms;
  throw new Error(`Linux does not report the CPU time of process ${pid}: schedstat is needed`);
}

/** Maximum memory (MB) that workerd has had resident. */
export function workerdPeakMb(): number {
  return workerdMemoryMb("VmHWM");
}

/** Memory (MB) that workerd has resident at present. */
export function workerdResidentMb(): number {
  return workerdMemoryMb("VmRSS");
}

function workerdMemoryMb(field: "VmHWM" | "VmRSS"): number {
  return workerdProcesses().reduce((sum, pid) => {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return sum + Number(new RegExp(`^${field}:\\s*(\\d+)`, "m").exec(status)?.[1] ?? 0) / 1024;
  }, 0);
}

function workerdProcesses(): readonly string[] {
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    const stat = readIfThere(`/proc/${name}/stat`);
    const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return stat.includes("(workerd)") && parent === String(process.pid);
  });
}

/** Some end while they are looked at. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
