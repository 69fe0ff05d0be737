import { spawnSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
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

  describe("with a file of secrets", () => {
    let folder: string;
    let file: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), "locations-token-"));
      file = join(folder, "secrets.json");
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    const add = (id: string) => run("--id", id, "--secrets-file", file);
    const secrets = () => JSON.parse(readFileSync(file, "utf8"));

    it("makes it, adds to it, keeps its other secrets, and says so and what comes next", () => {
      const first = add("ann").stdout;
      expect(first).toContain(`Wrote its hash to ${file}, whose ADMIN_TOKENS lists: ann\n`);
      writeFileSync(file, JSON.stringify({ ...secrets(), ALERT_WEBHOOKS: "[]" }));
      const second = add("bob").stdout;
      expect(second).toContain(`Added its hash to ${file}, whose ADMIN_TOKENS lists: ann, bob\n`);
      for (const output of [first, second]) {
        expect(output).toContain(`npx wrangler deploy --env="" --secrets-file ${file} `);
        expect(output).toContain(`npx wrangler secret bulk ${file} --env="" `);
        expect(output).not.toContain("secret put");
        const { credentials, problem } = readCredentials(secrets());
        expect(problem).toBeNull();
        const [token = ""] = /^ {2}[A-Za-z0-9_-]{43}$/m.exec(output) ?? [];
        const id = output === first ? "ann" : "bob";
        expect(findToken(credentials.tokens, `Bearer ${token.trim()}`, NOW)).toMatchObject({ id });
      }
      expect(secrets()).toMatchObject({ ALERT_WEBHOOKS: "[]" });
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(readdirSync(folder)).toEqual(["secrets.json"]);
    });

    it("shows its secrets to nobody else, whatever is beside it", () => {
      writeFileSync(`${file}.new`, "", { mode: 0o666 });
      expect(add("ann").status).toBe(0);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      chmodSync(file, 0o644);
      expect(add("bob").status).toBe(0);
      expect(statSync(file).mode & 0o777).toBe(0o600);
    });

    it("writes where a link leads, and leaves the link", () => {
      const place = join(folder, "elsewhere.json");
      writeFileSync(place, "{}");
      symlinkSync(place, file);
      expect(add("ann").status).toBe(0);
      expect(lstatSync(file).isSymbolicLink()).toBe(true);
      expect(JSON.parse(readFileSync(place, "utf8"))).toHaveProperty("ADMIN_TOKENS");
    });

    it("quotes its path in the commands as a shell needs it", () => {
      file = join(folder, "it's mine.json");
      const [command = ""] = /npx wrangler secret bulk .+(?= --env)/.exec(add("ann").stdout) ?? [];
      const script = command.replace("npx wrangler secret bulk", "cat");
      const { stdout } = spawnSync("sh", ["-c", script], { encoding: "utf8" });
      expect(JSON.parse(stdout)).toHaveProperty("ADMIN_TOKENS");
    });

    it("must have a name", () => {
      file = "";
      expect(add("ann")).toMatchObject({ status: 1, stdout: "" });
      expect(add("ann").stderr).toContain("--secrets-file must name a file");
    });

    it.each([
      ["", "it is not JSON of secrets"],
      ["ADMIN_TOKENS='[]'", "it is not JSON of secrets"],
      ["[]", "it is not JSON of secrets"],
      ['{"ADMIN_TOKENS": []}', "it is not JSON of secrets"],
      ['{"ADMIN_TOKENS": "[{}]"}', "ADMIN_TOKENS must be a JSON list of"],
    ])("leaves %s as it is, and says why", (text, why) => {
      writeFileSync(file, text);
      const { status, stdout, stderr } = add("ann");
      expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
      expect(stderr).toContain(`${file} cannot be used (${why}`);
      expect(readFileSync(file, "utf8")).toBe(text);
    });

    it("says why a place cannot be written to", () => {
      file = join(folder, "no", "secrets.json");
      expect(add("ann").stderr).toContain(`${file} cannot be used (ENOENT`);
      file = folder;
      expect(add("ann").stderr).toContain(`${file} cannot be used (EISDIR`);
    });
  });

  it("explains its options", () => {
    const { status, stdout } = run("--help");
    expect(status).toBe(0);
    for (const option of ["--expires DATE", "--secrets-file FILE"])
      expect(stdout).toContain(option);
  });

  it.each([[["--id"]], [["--name", "x"]], [["ann"]], [[]]])("refuses %j with its usage", (args) => {
    const { status, stdout, stderr } = run(...args);
    expect(status).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain("Usage: npm run token");
    expect(stderr).not.toContain("at parseArgs");
  });
});
