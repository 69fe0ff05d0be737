import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { fileMedium } from "../../client/src/file-store.ts";
import { Store } from "../../client/src/store.ts";
import { LOCALE, usePublishingService } from "../builders/publishing-service.ts";
import { sha256 } from "./http.ts";
import { runCommand } from "./run-command.ts";

const service = usePublishingService();
const folder = mkdtempSync(join(tmpdir(), "locations-keep-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the example; what it prints, and the bytes that it sends and receives. */
async function keep(find: string) {
  service.proxy.takeBytes();
  const command = ["examples/keep.ts", folder, find, service.proxy.url, LOCALE];
  const ended = await runCommand("node", ...command);
  return { ...ended, bytes: service.proxy.takeBytes() };
}

describe("examples/keep.ts", () => {
  it("downloads only the changes, and stores the whole catalog in a file", async () => {
    const first = await keep("hir");
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toMatch(
      /^\d+ airports, version 1\nHoniara International Airport · Honiara, Salomonen · HIR\n/,
    );

    const unchanged = await keep("hir");
    expect(unchanged).toMatchObject({ code: 0, stderr: "", stdout: first.stdout });
    expect(unchanged.bytes).toBeLessThan(first.bytes / 10);

    await service.publish((airports) =>
      airports.replace("Honiara International Airport", "Henderson Field"),
    );
    const changed = await keep("henderson");
    expect(changed).toMatchObject({ code: 0, stderr: "" });
    expect(changed.stdout).toContain("version 2\nHenderson Field · Honiara");
    expect(changed.bytes).toBeLessThan(7_000);
    const store = new Store(fileMedium(folder));
    const copy = await store.read(`${service.proxy.url} catalog ${LOCALE}`);
    expect(sha256(copy?.catalog?.bytes ?? new Uint8Array())).toBe((await service.served()).sha256);
  });

  it("says why it cannot update, and goes on with its copy", async () => {
    await service.proxy.stop();
    const { code, stdout, stderr } = await keep("henderson");
    expect(code).toBe(0);
    expect(stderr).toContain(`${service.proxy.url} cannot be reached (ECONNREFUSED)`);
    expect(stdout).toContain("version 2\nHenderson Field");
  });
});
