import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { identify, type ProcessIdentity } from "../../../scripts/process-identity.ts";
import { claimStateFolder } from "../../../scripts/state-folder.ts";

const LIVES = "setInterval(() => {}, 1000)";
/** Starts another process of its group, says so, and ends. */
const LEAVES_ONE = `
  require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(LIVES)}], { stdio: "ignore" }).unref();
  console.log("left");
`;

let folder: string;
const leaders: ChildProcess[] = [];

beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "state-"))));
afterEach(async () => {
  for (const { pid = 0 } of leaders.splice(0)) endGroup(pid);
  rmSync(folder, { recursive: true });
});

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Starts a process that leads a group of its own. */
async function startLeader(script: string): Promise<{ child: ChildProcess; pid: number }> {
  const child = spawn(process.execPath, ["-e", script], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  leaders.push(child);
  await once(child, "spawn");
  if (child.pid === undefined) throw new Error("it has no id");
  return { child, pid: child.pid };
}

function claim() {
  return claimStateFolder(folder, { fresh: false });
}

/** Leaves the folder as a process does that was killed. */
function leave(starter: ProcessIdentity): void {
  writeFileSync(join(folder, "owner.json"), JSON.stringify({ starter }));
}

describe("a folder of state", () => {
  it("is refused while the process that has it runs", async () => {
    const { pid } = await startLeader(LIVES);
    leave(identify(pid));
    expect(claim).toThrow(`${folder} is in use by process ${pid}`);
  });

  it("is free where its owner had the id that this process has now, as in a container", () => {
    leave({ pid: process.pid, startedAt: null });
    expect(claim().path).toBe(folder);
  });

  it("is free where another process has the id of its owner by now", async () => {
    const { pid } = await startLeader(LIVES);
    leave({ pid, startedAt: "1" });
    expect(claim().path).toBe(folder);
  });

  it("is refused while the Worker of a killed start runs", async () => {
    const { child, pid } = await startLeader(LIVES);
    claim().setGroup(pid);
    expect(claim).toThrow(`kill -- -${pid}`);
    const ended = once(child, "exit");
    endGroup(pid);
    await ended;
    expect(claim().path).toBe(folder);
  });

  it("is refused while anything runs that the Worker has started", async () => {
    const { child, pid } = await startLeader(LEAVES_ONE);
    claim().setGroup(pid);
    await once(child, "exit");
    expect(claim).toThrow(`process group ${pid}`);
  });

  it("is free where another process leads a group of that id by now", async () => {
    const { pid } = await startLeader(LIVES);
    const group = { pid, startedAt: "1" };
    const starter = { pid: process.pid, startedAt: null };
    writeFileSync(join(folder, "owner.json"), JSON.stringify({ starter, group }));
    expect(claim().path).toBe(folder);
  });

  it("is free once released", async () => {
    const { pid } = await startLeader(LIVES);
    const claimed = claim();
    claimed.setGroup(pid);
    claimed.release();
    expect(claim().path).toBe(folder);
  });
});
