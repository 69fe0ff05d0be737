import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { localAdminToken } from "../../../scripts/local-admin-token.ts";
import { digest } from "../../builders/admin-tokens.ts";

/** What another process does at the last moment. */
const other = vi.hoisted(() => ({ act: () => {} }));

vi.mock(import("node:fs"), async (importOriginal) => {
  const fs = await importOriginal();
  const linkSync: typeof fs.linkSync = (from, to) => {
    other.act();
    fs.linkSync(from, to);
  };
  return { ...fs, linkSync };
});

let folder: string;

beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "token-"))));
afterEach(() => rmSync(folder, { recursive: true }));

describe("the admin token of this machine", () => {
  it("exists after the first start and serves all later ones", () => {
    const file = join(folder, "made", "token");
    const first = localAdminToken(file);
    expect(first.isNew).toBe(true);
    expect(localAdminToken(file)).toEqual({ ...first, isNew: false });
  });

  it("comes from another process if both create it at the same time", () => {
    const file = join(folder, "token");
    other.act = () => writeFileSync(file, "theirs\n");
    expect(localAdminToken(file)).toMatchObject({ isNew: false, text: "theirs" });
    other.act = () => {};
    expect(readdirSync(folder)).toEqual(["token"]);
  });

  it("is in a file that only its owner can read, and the secret contains its hash", () => {
    const file = join(folder, "token");
    const { text, secret } = localAdminToken(file);
    expect(Buffer.from(text, "base64url")).toHaveLength(32);
    expect(readFileSync(file, "utf8")).toBe(`${text}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(secret).not.toContain(text);
    expect(JSON.parse(secret)).toMatchObject([{ sha256: digest(text) }]);
  });
});
