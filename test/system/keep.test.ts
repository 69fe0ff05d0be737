import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import { afterAll, describe, expect, it } from "vitest";
import type { CatalogCopy } from "../../client/src/refresh.ts";
import { LOCALE, usePublishingService } from "../builders/publishing-service.ts";
import { sha256 } from "./http.ts";
import { runCommand } from "./run-command.ts";

const service = usePublishingService();
const folder = mkdtempSync(join(tmpdir(), "locations-keep-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the example; what it prints, and the bytes that it sends and receives. */
async function keep(find: string, locale = LOCALE) {
  service.proxy.takeBytes();
  const ended = await runCommand(
    "node",
    "examples/keep.ts",
    folder,
    find,
    service.proxy.url,
    locale,
  );
  return { ...ended, bytes: service.proxy.takeBytes() };
}

/** The file of the catalog: its key ends with the locale. */
function fileOf(locale = LOCALE): string {
  const name = readdirSync(folder).find((each) => each.endsWith(`%20${locale}.bin`));
  if (name === undefined) throw new Error("nothing is stored");
  return join(folder, name);
}

function stored(): CatalogCopy {
  return deserialize(readFileSync(fileOf())) as CatalogCopy; // as the example wrote it
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

  const nothing = { bytes: new Uint8Array(), sha256: sha256(new Uint8Array()) };
  it.each([
    ["its copy is damaged", { bytes: new Uint8Array() }],
    ["no diff is stored from its copy", nothing],
    ["its copy has other names than the diff", { language: "ja" }],
  ])("downloads the whole catalog when %s", async (_, change) => {
    writeFileSync(fileOf(), serialize({ ...earlier, ...change }));
    const { bytes, ...ended } = await keep("henderson");
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(bytes).toBeGreaterThan(earlier.bytes.length / 10);
    await expectCurrent();
  });

  it("keeps a stored copy that is newer than the served catalog", async () => {
    const newer = { ...stored(), version: 9 };
    writeFileSync(fileOf(), serialize(newer));
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
