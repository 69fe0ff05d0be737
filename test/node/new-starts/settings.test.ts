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
      const { ingest, monitor } = trial.world;
      for (const value of values) {
        const what = `${name} ${value.slice(0, 60)}`;
        const settings = { [name]: value };
        const { config, problem } = configOf(settings, ingest.snapshot.locales);
        const alerts = loadAlertConfig(settings);
        const credentials = readCredentials(settings);
        const refusals = [problem, ...alerts.problems, credentials.problem].filter(
          (refusal) => refusal !== null,
        );
        for (const refusal of refusals) expect(refusal, what).toContain(name);
        trial.note(refusals.length === 0);
        ingest.settingsProblem = problem;
        // The embedded files alone can be ingested here, in the locales that are published.
        ingest.airportSet = config.airportSet;
        ingest.surprises = config.surprises;
        monitor.tokens = credentials.credentials.tokens;
        monitor.settings = settings;
        await trial.restart(what);
        const outcome = problem === null ? null : await failedRun(trial);
        expect(outcome?.run ?? problem, what).toBe(problem);
        expect(outcome?.status ?? name, what).toContain(name);
      }
      ingest.settingsProblem = null;
      ingest.airportSet = "all";
      await trial.restart(name);
      await trial.goOn();
      COUNTS.values += trial.values;
      COUNTS.accepted += trial.accepted;
    },
  );

  it("is refused more often than not", () => {
    expect(COUNTS.values).toBeGreaterThan(400);
    expect(COUNTS.accepted).toBeGreaterThan(80);
    expect(COUNTS.accepted).toBeLessThan(COUNTS.values / 2);
  });
});
