/** Global setup: the Worker's static assets, from which it reads the snapshot. Does nothing if they are there. */
import { execFileSync } from "node:child_process";

export default function setup(): void {
  execFileSync(process.execPath, ["web/build/build.ts"], { stdio: "inherit" });
}
