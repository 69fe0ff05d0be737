import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll } from "vitest";
import { freePort } from "../../../test/system/running-service.ts";

/** Serves the pages of `examples/browser` for all tests of the file. Returns what gives their origin. */
export function useExamplePages(): () => string {
  let origin = "";
  let server: ChildProcess;
  beforeAll(async () => {
    const args = ["examples/browser/serve.ts", String(await freePort())];
    server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await once(server.stdout ?? server, "data");
    ({ origin } = new URL(String(line).trim()));
  });
  afterAll(async () => {
    server.kill();
    await once(server, "exit");
  });
  return () => origin;
}
