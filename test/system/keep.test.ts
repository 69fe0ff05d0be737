import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import { afterAll, describe, expect, it } from "vitest";
import type { CatalogCopy } from "../../examples/catalog/refresh.ts";
import { LOCALE, usePublishingService } from "../builders/publishing-service.ts";
import { sha256 } from "./http.ts";
import { runCommand } from "./run-command.ts";

const service = usePublishingService();
const folder = mkdtempSync(join(tmpdir(), "locations-keep-"));
const file = join(folder, "catalog.bin");
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the example; what it prints, and the bytes that it sends and receives. */
async function keep(find: string, locale = LOCALE) {
  service.proxy.takeBytes();
  const ended = await runCommand("node", "examples/keep.ts", file, find, service.proxy.url, locale);
  return { ...ended, bytes: service.proxy.takeBytes() };
}

function stored(): CatalogCopy {
  return deserialize(readFileSync(file)) as CatalogCopy; // as the example wrote it
}

async function expectCurrent(): Promise<void> {
  expect(sha256(stored().bytes)).toBe((await service.served()).sha256);
}

let earlier: CatalogCopy;

describe("examples/keep.ts", () => {
  it("downloads only the changes, and stores the whole catalog in a file", async () => {
    const first = await keep("hir");
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toMatch(
      /^\d+ airports, version 1\nHoniara International Airport · Honiara, Solomon Islands · HIR\n/,
    );

    earlier = stored();
    const unchanged = await keep("hir");
    expect(unchanged).toMatchObject({ code: 0, stderr: "", stdout: first.stdout });
    expect(unchanged.bytes).toBeLessThan(first.bytes / 10);

    await service.publish((airports) =>
      airports.replace("Honiara International Airport", "Henderson Field"),
    );
    const changed = await keep("henderson");
    expect(changed).toMatchObject({ code: 0, stderr: "" });
    expect(changed.stdout).toContain("version 2\nHenderson Field · Honiara");
    expect(changed.bytes).toBeLessThan(first.bytes / 10);
    await expectCurrent();
  });

  it.each([
    ["no diff is stored from its copy", { sha256: "0".repeat(64) }],
    ["its copy has other names than the diff", { language: "ja" }],
    ["the diff does not lead to the served catalog", { bytes: new Uint8Array() }],
  ])("downloads the whole catalog when %s", async (_, change) => {
    writeFileSync(file, serialize({ ...earlier, ...change }));
    const { bytes, ...ended } = await keep("henderson");
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(bytes).toBeGreaterThan(earlier.bytes.length / 10);
    await expectCurrent();
  });

  it("keeps a stored copy that is newer than the served catalog", async () => {
    const newer = { ...stored(), version: 9, etag: '"another"' };
    writeFileSync(file, serialize(newer));
    expect((await keep("henderson")).stdout).toContain("version 9\n");
    expect(stored()).toEqual(newer);
  });

  it("says why it cannot update, and goes on with its copy", async () => {
    await service.proxy.stop();
    const { code, stdout, stderr } = await keep("henderson");
    expect({ code, stderr }).toEqual({ code: 0, stderr: `${service.proxy.url}: fetch failed\n` });
    expect(stdout).toContain("version 9\nHenderson Field");
  });
});
