import { describe, expect, it } from "vitest";
import { type CredentialSettings, readCredentials } from "../../../src/platform/credentials.ts";
import { digest } from "../../builders/admin-tokens.ts";

const TOKEN = { id: "ops", sha256: digest("secret"), scopes: ["read", "operate"] };
const ACCESS = { ACCESS_TEAM_DOMAIN: "team.cloudflareaccess.com", ACCESS_AUD: "a1b2" };

/** The credentials of settings that are in order. */
function credentials(settings: CredentialSettings) {
  const read = readCredentials(settings);
  expect(read.problem).toBeNull();
  return read.credentials;
}

/** What is said of settings that are not. */
function complaint(settings: CredentialSettings): string {
  return readCredentials(settings).problem ?? "";
}

const complaintOfToken = (changes: object) =>
  complaint({ ADMIN_TOKENS: JSON.stringify([{ ...TOKEN, ...changes }]) });

describe("ADMIN_TOKENS", () => {
  it("lists tokens by their hashes, some with an end", () => {
    const expiring = { ...TOKEN, expires_at: "2027-01-01T00:00:00Z" };
    expect(credentials({ ADMIN_TOKENS: JSON.stringify([TOKEN, expiring]) })).toEqual({
      tokens: [
        { ...TOKEN, expiresAt: null },
        { ...TOKEN, expiresAt: Date.UTC(2027, 0, 1) },
      ],
      access: null,
    });
  });

  it("may list no token, or be absent", () => {
    expect(credentials({ ADMIN_TOKENS: "[]" }).tokens).toEqual([]);
    expect(credentials({}).tokens).toEqual([]);
  });

  it.each(["", "secret", "{}", "null", "[null]"])("refuse “%s”", (ADMIN_TOKENS) => {
    expect(complaint({ ADMIN_TOKENS })).toContain("ADMIN_TOKENS must be a JSON list");
  });

  it.each([
    [{ id: "" }, "0 id "],
    [{ sha256: "secret" }, "0 sha256 must be 64 lower-case hex digits"],
    [{ sha256: digest("secret").toUpperCase() }, "0 sha256 must be 64 lower-case hex digits"],
    [{ scopes: [] }, "0 scopes "],
    [{ scopes: ["admin"] }, "0 scopes 0 "],
    [{ expires_at: "tomorrow" }, "0 expires_at "],
    [{ expires_at: "2026-02-30T00:00:00Z" }, "0 expires_at "],
    [{ expires: "2027-01-01T00:00:00Z" }, "expires"],
  ])("refuse a token with %j, and say why", (changes, message) => {
    const text = complaintOfToken(changes);
    expect(text).toContain("ADMIN_TOKENS must be a JSON list");
    expect(text).toContain(message);
  });

  it("never appear in an error message about them", () => {
    const text = complaintOfToken({ scopes: ["admin"], secret: "plain text" });
    expect(text).not.toContain(TOKEN.sha256);
    expect(text).not.toContain("plain text");
    expect(complaint({ ADMIN_TOKENS: '["plain text"' })).not.toContain("plain text");
  });
});

describe("Cloudflare Access", () => {
  it("takes a team, an application and a list of those who may operate", () => {
    const settings = { ...ACCESS, ACCESS_OPERATORS: " Ann@example.org, 4f.access ,," };
    expect(credentials(settings).access).toEqual({
      issuer: "https://team.cloudflareaccess.com",
      audience: "a1b2",
      operators: ["ann@example.org", "4f.access"],
    });
  });

  it("lets only named people operate", () => {
    expect(credentials(ACCESS).access?.operators).toEqual([]);
  });

  it("stays off if its settings are absent", () => {
    expect(credentials({ ACCESS_TEAM_DOMAIN: "", ACCESS_AUD: "" }).access).toBeNull();
  });

  it.each([
    [{ ACCESS_TEAM_DOMAIN: "team.cloudflareaccess.com" }, "ACCESS_AUD and ACCESS_TEAM_DOMAIN"],
    [{ ACCESS_AUD: "a1b2" }, "ACCESS_AUD and ACCESS_TEAM_DOMAIN"],
    [
      { ...ACCESS, ACCESS_TEAM_DOMAIN: "https://team.example" },
      "ACCESS_TEAM_DOMAIN must be a host",
    ],
    [{ ...ACCESS, ACCESS_TEAM_DOMAIN: "team" }, "ACCESS_TEAM_DOMAIN must be a host"],
    [{ ...ACCESS, ACCESS_TEAM_DOMAIN: "evil.example/@x.com" }, "ACCESS_TEAM_DOMAIN must be a host"],
  ])("refuses the settings %j", (settings, message) => {
    expect(complaint(settings)).toContain(message);
  });
});

it("a malformed credential lets nobody in, and leaves the other as it is", () => {
  const wrongTokens = { ...ACCESS, ADMIN_TOKENS: "[{]" };
  expect(readCredentials(wrongTokens)).toMatchObject({
    credentials: { tokens: [], access: { audience: "a1b2" } },
    problem: expect.stringContaining("ADMIN_TOKENS"),
  });
  const wrongAccess = { ACCESS_AUD: "a1b2", ADMIN_TOKENS: JSON.stringify([TOKEN]) };
  expect(readCredentials(wrongAccess)).toMatchObject({
    credentials: { tokens: [{ id: "ops" }], access: null },
    problem: expect.stringContaining("ACCESS_TEAM_DOMAIN"),
  });
});
