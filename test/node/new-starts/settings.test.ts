import { describe, expect, it } from "vitest";
import { loadAlertConfig } from "../../../src/alerts/settings.ts";
import { CONFIG_SETTINGS, loadConfig } from "../../../src/config.ts";
import { ACCESS_SETTINGS, readCredentials } from "../../../src/credentials.ts";
import { LIMIT_SETTINGS } from "../../../src/health/limits.ts";
import { ConfigError } from "../../../src/serving-config.ts";
import { HostileTrial } from "../../builders/hostile-trial.ts";
import { SETTING_VALUES } from "../../builders/hostile-values.ts";

const ALERT_SETTINGS = ["ALERT_WEBHOOKS", "ALERT_PING_URL"];
const CREDENTIALS = ["ADMIN_TOKENS", ...ACCESS_SETTINGS];

/** Reads the settings of the Worker, or says what is wrong. */
function configOf(settings: object, known: Parameters<typeof loadConfig>[1]) {
  try {
    return { config: loadConfig(settings, known), problem: null };
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    return { config: loadConfig({}, known), problem: cause.message };
  }
}

/** What a run and the status say about wrong settings. */
async function failedRun({ world }: HostileTrial) {
  const { error } = await world.ingest.runToEnd();
  const status = await world.request("/admin/monitor/status");
  const { output } = await status.json<{ output: string }>();
  return { run: error?.code === "bad_settings" ? error.message : error?.code, status: output };
}

const COUNTS = { values: 0, accepted: 0 };

/** The last value that is accepted of each setting. */
const ACCEPTED: { [name: string]: string } = {};

/** Gives settings to the next instances, and says what is wrong with them. */
function use({ world: { ingest, monitor } }: HostileTrial, settings: object): string[] {
  const { config, problem } = configOf(settings, ingest.snapshot.locales);
  const { credentials, problem: wrongCredentials } = readCredentials(settings);
  ingest.settingsProblem = problem;
  // The embedded files alone can be ingested here, in the locales that are published.
  ingest.airportSet = config.airportSet;
  ingest.surprises = config.surprises;
  monitor.tokens = credentials.tokens;
  monitor.settings = settings;
  const problems = [problem, ...loadAlertConfig(settings).problems, wrongCredentials];
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
    async (name, values) => {
      const trial = await HostileTrial.begin();
      for (const value of values) {
        const what = `${name} ${value.slice(0, 60)}`;
        const refusals = use(trial, { [name]: value });
        for (const refusal of refusals) expect(refusal, what).toContain(name);
        trial.note(refusals.length === 0);
        if (refusals.length === 0) ACCEPTED[name] = value;
        await trial.restart(what);
        const { settingsProblem } = trial.world.ingest;
        const outcome = settingsProblem === null ? null : await failedRun(trial);
        expect(outcome?.run ?? settingsProblem, what).toBe(settingsProblem);
        expect(outcome?.status ?? name, what).toContain(name);
      }
      COUNTS.values += trial.values;
      COUNTS.accepted += trial.accepted;
    },
  );

  it("lets everything go on with all that are accepted", async () => {
    expect(Object.keys(ACCEPTED)).toEqual(Object.keys(SETTING_VALUES));
    const trial = await HostileTrial.begin();
    expect(use(trial, ACCEPTED)).toEqual([]);
    await trial.restart(JSON.stringify(Object.keys(ACCEPTED)));
    await trial.goOn();
  });

  it("is refused more often than not", () => {
    expect(COUNTS.values).toBeGreaterThan(400);
    expect(COUNTS.accepted).toBeGreaterThan(80);
    expect(COUNTS.accepted).toBeLessThan(COUNTS.values / 2);
  });
});
