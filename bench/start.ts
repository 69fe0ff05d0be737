/**
 * `npm run bench:start`: where the seconds of a first `npm start` go until it answers a call, and the
 * CPU time of a request that it serves. Each start has a new state folder; the pages are built again.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { CALL } from "../test/system/http.ts";
import { freePort } from "../test/system/running-service.ts";
import { median, round } from "./statistics.ts";
import { processCpuMs } from "./workerd-process.ts";

const POLL_MS = 50;
const REQUESTS = 300;
/** What `npm start` says when a step has ended, and what the step is. A quick stage may be left out. */
const STEPS: readonly (readonly [says: RegExp, step: string])[] = [
  [/Building the pages/, "npm, and checking the options"],
  [/(?:waiting|fetch|parse|build) …/, "building the pages and starting the Worker"],
  [/encode …/, "reading and building the catalog"],
  [/Catalog published/, "encoding and storing every locale"],
];

const { values } = parseArgs({ options: { starts: { type: "string", default: "3" } } });
const starts: { readonly atMs: readonly number[]; readonly cpuMs: number }[] = [];
for (let start = 0; start < Number(values.starts); start++) starts.push(await measureStart());

const ends = [...STEPS.map(([, step]) => step), "serving the first answer"];
let before = 0;
for (const [index, step] of ends.entries()) {
  const at = median(starts.map(({ atMs }) => atMs[index] ?? Number.NaN));
  print(step, (at - before) / 1000, "s");
  before = at;
}
print("the first answer, after", before / 1000, "s");
print("CPU of a request, proxy included", median(starts.map(({ cpuMs }) => cpuMs)), "ms");

async function measureStart() {
  const state = mkdtempSync(join(tmpdir(), "bench-start-"));
  const port = await freePort();
  rmSync("dist", { recursive: true, force: true });
  const startedAt = performance.now();
  const args = ["start", "--", `--port=${port}`, `--state=${state}`];
  // A group of its own hears Ctrl-C.
  const npm = spawn("npm", args, { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  const atMs: number[] = [];
  let output = "";
  npm.stdout.on("data", (text) => {
    output += String(text);
    while (STEPS[atMs.length]?.[0].test(output) === true) atMs.push(performance.now() - startedAt);
  });
  try {
    // A call before would be answered with 503, and take the time of what is measured.
    while (atMs.length < STEPS.length || !(await call(port))) {
      if (npm.exitCode !== null) throw new Error(`npm start has ended:\n${output}`);
      await sleep(POLL_MS);
    }
    const answeredAtMs = performance.now() - startedAt;
    return { atMs: [...atMs, answeredAtMs], cpuMs: await cpuOfRequest(npm, port) };
  } finally {
    process.kill(-(npm.pid ?? 0), "SIGINT");
    await once(npm, "exit");
    rmSync(state, { recursive: true });
  }
}

async function call(port: number): Promise<boolean> {
  const url = `http://127.0.0.1:${port}${CALL}`;
  const headers = { "content-type": "application/json", "accept-encoding": "br" };
  const init = { method: "POST", headers, body: '{"locale":"de"}' };
  const answer = await fetch(url, init).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.ok === true;
}

async function cpuOfRequest(npm: ChildProcess, port: number): Promise<number> {
  for (let request = 0; request < REQUESTS; request++) await call(port);
  const processes = descendants(String(npm.pid));
  const cpuMs = () => processes.reduce((sum, pid) => sum + processCpuMs(pid), 0);
  const beforeMs = cpuMs();
  for (let request = 0; request < REQUESTS; request++) await call(port);
  return (cpuMs() - beforeMs) / REQUESTS;
}

function descendants(pid: string): string[] {
  const children = readdirSync("/proc").filter((name) => parentOf(name) === pid);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

function parentOf(pid: string): string | undefined {
  const stat = readStat(pid);
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
}

/** Empty for what is no process, or has ended. */
function readStat(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return "";
  }
}

function print(what: string, value: number, unit: string): void {
  process.stdout.write(`${what.padEnd(50)}${round(value, 1).padStart(7)} ${unit}\n`);
}
