import { describe, expect, it } from "vitest";
import { type AlertSettings, loadAlertConfig } from "../../../src/monitor/alert-settings.ts";
import { readLimits } from "../../../src/monitor/alert-settings.ts";
import { WEBHOOK_SECRET } from "../../builders/webhook-receiver.ts";

const HOOK = {
  name: "ops",
  kind: "webhook",
  url: "https://hooks.example.org/T000/very-secret-path",
  secret: WEBHOOK_SECRET,
};

function config(settings: AlertSettings) {
  const loaded = loadAlertConfig(settings);
  expect(loaded.problems).toEqual([]);
  return loaded.config;
}

function problem(settings: AlertSettings): string {
  return loadAlertConfig(settings).problems.join("; ");
}

const webhooks = (...list: readonly object[]) => ({ ALERT_WEBHOOKS: JSON.stringify(list) });

describe("loadAlertConfig", () => {
  it("has a default for each limit, and notifies nobody", () => {
    expect(config({})).toEqual({
      limits: {
        catalogStaleMs: 108_000_000,
        dataOldMs: 63_072_000_000,
        ingestFailingRuns: 3,
        ingestStuckMs: 600_000,
        ingestPausedMs: 86_400_000,
        changesHeldMs: 172_800_000,
        backupStaleMs: 93_600_000,
        backupUnverifiedMs: 90_000_000,
        repeatMs: 14_400_000,
      },
      targets: [],
      pingUrl: null,
      dashboardUrl: null,
    });
  });

  it("reads targets with and without a secret", () => {
    const { secret: _, ...open } = { ...HOOK, name: "chat-2", kind: "slack" };
    const key = Buffer.from(WEBHOOK_SECRET.slice("whsec_".length), "base64");
    expect(config(webhooks(HOOK, open)).targets).toEqual([
      { ...open, name: HOOK.name, kind: HOOK.kind, key },
      { ...open, key: null },
    ]);
  });
});

it.each(["_ops", "-", "7", "a".repeat(40)])("a webhook may have the name %s", (name) => {
  expect(config(webhooks({ ...HOOK, name })).targets).toMatchObject([{ name }]);
});

it.each(["", "a".repeat(41), "Ops", "o.ps"])("a webhook may not have the name %j", (name) => {
  expect(problem(webhooks({ ...HOOK, name }))).toContain("0 name must be 1 to 40 of a-z");
});

describe("a setting of the alerts that cannot be used", () => {
  it.each([
    [{ name: "Ops Chat" }, "0 name must be 1 to 40 of a-z"],
    [{ kind: "pagerduty" }, "0 kind "],
    [
      { kind: "alertmanager" },
      '0 url must end with /api/v2/alerts: other receivers of this kind now have the kind "webhook"',
    ],
    [
      { kind: "alertmanager", url: "https://hooks.example.org/very-secret-path/api/v1/alerts" },
      "0 url must end",
    ],
    [{ url: "hooks.example.org" }, "0 url is not a URL"],
    [{ url: "http://hooks.example.org/very-secret-path" }, "0 url must begin with https://"],
    [{ url: "https://me:hidden@hooks.example.org/" }, "0 url must have no user name"],
    [{ url: 7 }, "0 url "],
    [{ secret: "short" }, '0 secret must be "whsec_" and 24 to 64 bytes in base64'],
    [{ secret: `whsec_${"A".repeat(28)}` }, "0 secret must be"],
    [{ secret: WEBHOOK_SECRET.slice(1) }, "0 secret must be"],
    [{ secret: `whsec_${"A".repeat(88)}` }, "0 secret must be"],
    [{ token: "hidden" }, "0 has an unknown field"],
    [{ "https://hooks.example.org/very-secret-path": 1 }, "0 has an unknown field"],
  ])(
    "leads to a message without address or secret: ALERT_WEBHOOKS with a target of %j",
    (changes, message) => {
      const said = problem(webhooks({ ...HOOK, ...changes }));
      expect(said).toContain("ALERT_WEBHOOKS must be a JSON list of {name, kind");
      expect(said).toContain(message);
      for (const hidden of ["very-secret-path", HOOK.secret, "hooks.example.org", "hidden"])
        expect(said).not.toContain(hidden);
    },
  );

  it.each(["", "https://hooks.example.org/very-secret-path", "{}", "null", "[1]"])(
    "leads to a message of the list that it must be: ALERT_WEBHOOKS of “%s”",
    (ALERT_WEBHOOKS) => {
      const said = problem({ ALERT_WEBHOOKS });
      expect(said).toContain("ALERT_WEBHOOKS must be a JSON list");
      expect(said).not.toContain("very-secret-path");
    },
  );

  it("leads to a message if ALERT_WEBHOOKS has two targets of one name, or eleven targets", () => {
    expect(problem(webhooks(HOOK, HOOK))).toContain("must have names that differ");
    const many = Array.from({ length: 11 }, (_, index) => ({ ...HOOK, name: `ops-${index}` }));
    expect(problem(webhooks(...many))).toContain("may name 10 at most");
  });

  it.each(["", "not a url", "http://example.org/secret-ping", "ftp://example.org/secret-ping"])(
    "leads to a message without the address: ALERT_PING_URL of “%s”",
    (ALERT_PING_URL) => {
      const said = problem({ ALERT_PING_URL });
      expect(said).toMatch(/^ALERT_PING_URL (is not a URL|must begin with https)/);
      expect(said).not.toContain("secret-ping");
    },
  );
});

describe("a limit with an unusable setting", () => {
  it.each([
    ["backupStaleMs", "ALERT_BACKUP_STALE_MS", 26 * 3_600_000],
    ["dataOldMs", "ALERT_DATA_OLD_MS", 730 * 86_400_000],
  ] as const)("takes its default value: %s", (limit, name, value) => {
    expect(readLimits({ [name]: "86400000" }).limits[limit]).toBe(86_400_000);
    for (const text of [undefined, "", "soon", "1"])
      expect(readLimits({ [name]: text }).limits[limit]).toBe(value);
  });
});

describe("webhooks beside one that cannot be used", () => {
  const wrong = { ...HOOK, name: "wrong", url: "ftp://example.org/" };
  const ELEVEN = Array.from({ length: 11 }, (_, index) => `ops-${index}`);
  const named = (...names: readonly string[]) => names.map((name) => ({ ...HOOK, name }));

  it.each([
    ["a wrong one", [...named("ops"), wrong, 7], ["ops"]],
    ["a second one of the same name", named("ops", "ops", "chat"), ["ops", "chat"]],
    ["an eleventh", named(...ELEVEN), ELEVEN.slice(0, 10)],
  ])("are still notified: beside %s", (_, list, names) => {
    const { config: read, problems } = loadAlertConfig({ ALERT_WEBHOOKS: JSON.stringify(list) });
    expect(read.targets.map(({ name }) => name)).toEqual(names);
    expect(problems).toEqual([expect.stringMatching(/^ALERT_WEBHOOKS must/)]);
  });
});
