import { describe, expect, it } from "vitest";
import { loadAlertConfig } from "../../../src/monitor/alert-settings.ts";
import { CONFIG_SETTINGS, loadConfig } from "../../../src/ingest/config.ts";
import { ACCESS_SETTINGS, readCredentials } from "../../../src/platform/credentials.ts";
import { LIMIT_SETTINGS } from "../../../src/monitor/alert-settings.ts";
import { HostileTrial } from "../../builders/hostile-trial.ts";
import { SETTING_VALUES } from "../../builders/hostile-values.ts";
import { resultOf } from "../../builders/monitor-world.ts";

const ALERT_SETTINGS = ["ALERT_WEBHOOKS", "ALERT_PING_URL", "SERVICE_URL"];
const CREDENTIALS = ["ADMIN_TOKENS", ...ACCESS_SETTINGS];

/** What a run and the status say about wrong settings. */
async function failedRun({ world }: HostileTrial) {
  const { error } = await world.ingest.runToEnd();
  const status = await world.request("/admin/monitor/status");
  const { output } = await status.json<{ output: string }>();
  return { run: error?.code === "bad_settings" ? error.message : error?.code, status: output };
}

/** Gives settings to the next instances, and says what is wrong with them. */
function use({ world: { ingest, monitor } }: HostileTrial, settings: object): string[] {
  const { config, problems: wrong, runProblems } = loadConfig(settings, ingest.snapshot.locales);
  const { credentials, problem: wrongCredentials } = readCredentials(settings);
  ingest.settingsProblem = runProblems.length === 0 ? null : runProblems.join("; ");
  // The embedded files alone can be ingested here, in the locales that are published.
  ingest.airportSet = config.airportSet;
  ingest.holdLimits = config.holdLimits;
  monitor.tokens = credentials.tokens;
  monitor.settings = settings;
  const problems = [...wrong, ...loadAlertConfig(settings).problems, wrongCredentials];
  return problems.filter((found) => found !== null);
}

describe("a value of a setting", () => {
  it("has a row for each setting", () => {
    expect(Object.keys(SETTING_VALUES).toSorted()).toEqual(
      [...CONFIG_SETTINGS, ...LIMIT_SETTINGS, ...ALERT_SETTINGS, ...CREDENTIALS].toSorted(),
    );
  });

  it.each(Object.entries(SETTING_VALUES))(
    "%s is refused by name, or survives a new start",
    async (name, { valid, wrong }) => {
      const trial = await HostileTrial.start();
      for (const value of [...valid, ...wrong]) {
        const what = `${name} ${value.slice(0, 60)}`;
        const refusals = use(trial, { [name]: value });
        expect(refusals.length === 0, what).toBe(valid.includes(value));
        for (const refusal of refusals) expect(refusal, what).toContain(name);
        const found = resultOf(await trial.restart(what), "settings_wrong");
        expect(found.status, what).toBe(refusals.length === 0 ? "pass" : "warn");
        expect(refusals.length === 0 ? name : found.message, what).toContain(name);
        const { settingsProblem } = trial.world.ingest;
        const outcome = settingsProblem === null ? null : await failedRun(trial);
        expect(outcome?.run ?? settingsProblem, what).toBe(settingsProblem);
        expect(outcome?.status ?? name, what).toContain(name);
      }
    },
  );

  it("lets everything go on with all that are right", async () => {
    const last = Object.entries(SETTING_VALUES).map(([name, { valid }]) => [name, valid.at(-1)]);
    const trial = await HostileTrial.start();
    expect(use(trial, Object.fromEntries(last))).toEqual([]);
    await trial.restart("all settings");
    await trial.goOn();
  });
});
