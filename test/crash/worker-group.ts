import { spawnSync } from "node:child_process";

/** The process group of the Worker that this process has started; undefined if there is none. */
export function findWorkerGroup(): number | undefined {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" });
  for (const line of stdout.split("\n")) {
    const [, pid, parent, args = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    if (Number(parent) === process.pid && args.includes("wrangler.js dev")) return Number(pid);
  }
  return undefined;
}
