import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claimStateFolder } from "../../../scripts/state-folder.ts";

let folder: string;
const children: ChildProcess[] = [];

beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "state-"))));
afterEach(async () => {
  await Promise.all(children.splice(0).map(kill));
  rmSync(folder, { recursive: true });
});

async function kill(child: ChildProcess): Promise<void> {
  const ended = child.signalCode === null && once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** A process that claims the folder and stays; what it says about that. */
async function claimant(): Promise<{ readonly child: ChildProcess; readonly output: string }> {
  const script = `
    import { claimStateFolder } from ${JSON.stringify(resolve("scripts/state-folder.ts"))};
    try {
      claimStateFolder(${JSON.stringify(folder)}, { fresh: false });
      console.log("claimed");
    } catch (error) {
      console.log(error.message);
    }
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script]);
  children.push(child);
  const [output] = await once(child.stdout, "data");
  return { child, output: String(output).trim() };
}

function claim(options = { fresh: false }) {
  return claimStateFolder(folder, options);
}

describe("a folder of state", () => {
  it("belongs to one of several processes that claim it at once", async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, claimant));
    expect(answers.filter(({ output }) => output === "claimed")).toHaveLength(1);
    expect(
      answers.filter(({ output }) => output.includes("in use by another npm start")),
    ).toHaveLength(5);
  });

  it("refuses another process while its owner runs, and accepts it once the owner is killed", async () => {
    const { child } = await claimant();
    expect(claim).toThrow(`${folder} is in use by another npm start`);
    await kill(child);
    claim().release();
  });

  it("accepts another process after a release, which may be repeated", () => {
    const claimed = claim();
    expect(claim).toThrow("in use");
    claimed.release();
    claimed.release();
    claim().release();
  });

  it("becomes empty only if a fresh one is requested", () => {
    mkdirSync(join(folder, "v3"));
    claim().release();
    expect(existsSync(join(folder, "v3"))).toBe(true);
    claim({ fresh: true }).release();
    expect(existsSync(join(folder, "v3"))).toBe(false);
  });

  it("causes a refusal with a remedy if it is not writable", () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    expect(() => claimStateFolder(file, { fresh: false })).toThrow(
      /cannot be written to \(.*\)\. .*--state FOLDER/,
    );
  });
});
