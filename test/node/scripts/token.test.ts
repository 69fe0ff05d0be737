import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newAdminToken, type TokenOptions } from "../../../scripts/new-admin-token.ts";
import { findToken } from "../../../src/admin/auth/authenticate.ts";
import { readCredentials } from "../../../src/platform/credentials.ts";

const NOW = Date.parse("2026-11-01T05:00:00.000Z");

const make = (options: Partial<TokenOptions>) =>
  newAdminToken({ id: "ops", scopes: undefined, expires: undefined, ...options }, NOW);

/** What is said of options that cannot be used. */
function problemOf(options: Partial<TokenOptions>): string {
  const made = make(options);
  return made.ok ? "" : made.problem;
}

function run(...args: string[]) {
  return spawnSync("node", ["scripts/token.ts", ...args], { encoding: "utf8" });
}

describe("newAdminToken", () => {
  it("makes a token that its entry accepts until it expires", () => {
    const made = make({ scopes: "operate,read", expires: "2027-06-30" });
    if (!made.ok) throw new Error(made.problem);
    const read = readCredentials({ ADMIN_TOKENS: JSON.stringify([made.entry]) });
    const { tokens } = read.credentials;
    const expiresAt = Date.UTC(2027, 5, 30);
    const entry = { id: "ops", scopes: ["read", "operate"], expiresAt };
    expect(findToken(tokens, `Bearer ${made.text}`, expiresAt - 1)).toMatchObject(entry);
  });

  it("makes a new token of 256 bits each time, and stores only its hash", () => {
    const [one, other] = [make({}), make({})];
    if (!one.ok || !other.ok) throw new Error("both were in order");
    expect(one.text).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(one.text).not.toBe(other.text);
    expect(JSON.stringify(one.entry)).not.toContain(one.text);
  });

  it("gives only the right to read unless more is requested", () => {
    expect(make({})).toMatchObject({ entry: { scopes: ["read"] } });
  });

  it.each([
    [{ id: undefined }, "--id is missing"],
    [{ id: "" }, "--id must have"],
    [{ id: 'a"b' }, "--id must have"],
    [{ scopes: "admin" }, '--scopes must be of read and operate, by comma, not "admin"'],
    [{ scopes: "read,,operate" }, '--scopes must be of read and operate, by comma, not ""'],
    [{ expires: "tomorrow" }, '--expires must be a date such as 2027-06-30, not "tomorrow"'],
    [{ expires: "2027-06-31" }, "--expires must be a date"],
    [{ expires: "2027-13-01" }, "--expires must be a date"],
    [{ expires: "1" }, "--expires must be a date"],
    [{ expires: "2026-10-31" }, "--expires 2026-10-31 is in the past"],
  ])("refuses %j with the reason", (options, problem) => {
    expect(problemOf(options)).toContain(problem);
  });
});

describe("npm run token", () => {
  it("prints the token once, its entry, and how to set the secret", () => {
    const { status, stdout, stderr } = run("--id", "ann", "--scopes", "read,operate");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const [token = ""] = /^ {2}[A-Za-z0-9_-]{43}$/m.exec(stdout) ?? [];
    expect(stdout.split(token.trim())).toHaveLength(2);
    expect(stdout).toContain("npx wrangler secret put ADMIN_TOKENS\n");
    const [secret = ""] = /\[\{.*\}\]/.exec(stdout) ?? [];
    expect(readCredentials({ ADMIN_TOKENS: secret })).toMatchObject({
      problem: null,
      credentials: { tokens: [{ id: "ann", scopes: ["read", "operate"] }] },
    });
  });

  it("makes a file of secrets for wrangler, and never in the place of another", () => {
    const folder = mkdtempSync(join(tmpdir(), "locations-token-"));
    try {
      const file = join(folder, "secrets.json");
      const makeFile = () => run("--id", "ann", "--secrets-file", file);
      const { stdout } = makeFile();
      const written = readFileSync(file, "utf8");
      const { credentials, problem } = readCredentials(JSON.parse(written));
      expect(problem).toBeNull();
      const [token = ""] = /^ {2}[A-Za-z0-9_-]{43}$/m.exec(stdout) ?? [];
      const found = findToken(credentials.tokens, `Bearer ${token.trim()}`, NOW);
      expect(found).toMatchObject({ id: "ann" });
      expect(makeFile()).toMatchObject({ status: 1, stdout: "" });
      expect(readFileSync(file, "utf8")).toBe(written);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("explains its options", () => {
    const { status, stdout } = run("--help");
    expect(status).toBe(0);
    expect(stdout).toContain("--expires DATE");
  });

  it.each([[["--id"]], [["--name", "x"]], [["ann"]], [[]]])("refuses %j with its usage", (args) => {
    const { status, stdout, stderr } = run(...args);
    expect(status).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain("Usage: npm run token");
    expect(stderr).not.toContain("at parseArgs");
  });
});
