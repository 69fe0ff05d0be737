import type { AlertRun } from "../../src/schemas/alert-run.ts";
import { type EvaluationRequest, Monitor } from "../../src/monitor/monitor.ts";
import type { MonitorPlatform } from "../../src/monitor/monitor-platform.ts";
import { MonitorState } from "../../src/monitor/monitor-state.ts";
import { type AlertSettings, loadAlertConfig } from "../../src/monitor/alert-settings.ts";
import type { BackupTimes } from "../../src/backup/read-backups.ts";
import type { CoordinatorStatus } from "../../src/coordinator/status.ts";
import type { TokenFacts } from "../../src/monitor/facts.ts";
import { anId } from "./an-id.ts";
import { anEndedRun, HOUR_MS, MINUTE_MS, NOW, someBackups, someIngestFacts } from "./facts.ts";
import { aVersion } from "./manifest.ts";
import { memoryCatalogStore } from "./memory-catalog-store.ts";
import { MemoryTables } from "./memory-tables.ts";
import { checkSettings } from "../../src/monitor/settings.ts";

const KNOWN = ["de", "en"].map((locale) => ({ locale, coverage: 1 }));

/**
 * A monitor over SQLite and stores in memory, with a clock that moves only on request, and webhooks
 * over the network. `restart` loses what it holds in memory and keeps the rest.
 */
export class MonitorWorld {
  readonly tables = new MemoryTables();
  readonly store = memoryCatalogStore();
  /** Rows in D1, by id. */
  readonly rows = new Map<string, AlertRun>();
  readonly logged: { readonly level: string; readonly event: string; readonly fields: object }[] =
    [];
  /** Milliseconds since 1970. */
  time = NOW;
  settings: AlertSettings;
  /** Its errors are those of the called input or of D1: `ingest`, `d1 save`, … */
  before: (call: string) => void | Promise<void> = () => {};
  readonly deliveryLimits = { timeoutMs: 60_000, maxAttempts: 2, backoffMs: 1 };
  ingest: CoordinatorStatus;
  backups: BackupTimes = someBackups();
  monitor: Monitor;
  tokens: readonly TokenFacts[] = [];
  #ids = 0;

  constructor(settings: AlertSettings = {}) {
    this.settings = settings;
    const version = aVersion(7, "hello");
    const published_at = this.at(-8 * HOUR_MS);
    this.store.publish({ ...version, manifest: { ...version.manifest, published_at } });
    const current = { generation: 7, published_at };
    const localeSettings = { locales: ["en"], defaultLocale: "en" };
    this.ingest = someIngestFacts({ current, bestCoverage: { en: 0.5 }, localeSettings });
    this.monitor = this.#newMonitor();
  }

  /** The present time, or one so much later. */
  at(laterMs = 0): string {
    return new Date(this.time + laterMs).toISOString();
  }

  restart(settings: AlertSettings = this.settings): void {
    this.settings = settings;
    this.monitor = this.#newMonitor();
  }

  /** Lets five minutes pass, and the cron tick come. */
  async tick(minutes = 5): Promise<AlertRun> {
    this.time += minutes * MINUTE_MS;
    return this.evaluate({ trigger: "cron", requested_by: "cron", tick: this.time });
  }

  /** Evaluates, which must be possible. */
  async evaluate(changes: Partial<EvaluationRequest> = {}): Promise<AlertRun> {
    const asked = { trigger: "manual", requested_by: "ops", tick: null, ...changes } as const;
    const result = await this.monitor.evaluate(asked);
    if (!result.ok) throw new Error(`not evaluated: ${result.reason}`);
    return result.run;
  }

  /** Lets the last comparison with upstream be so long ago. */
  compared(hoursAgo: number): void {
    const finished_at = this.at(-hoursAgo * HOUR_MS);
    const published_at = this.at(-1000 * HOUR_MS);
    const current = { generation: 7, published_at };
    const ended = [anEndedRun({ finished_at })];
    this.ingest = someIngestFacts({ ...this.ingest, ended, current });
    const version = aVersion(7, "hello");
    this.store.publish({ ...version, manifest: { ...version.manifest, published_at } });
  }

  /** Everything that was logged, as text. */
  get log(): string {
    return JSON.stringify(this.logged);
  }

  #newMonitor(): Monitor {
    const now = () => this.time;
    const log: MonitorPlatform["log"] = (level, event, fields) =>
      void this.logged.push({ level, event, fields });
    return new Monitor({
      state: new MonitorState(this.tables, { log, now }),
      config: loadAlertConfig(this.settings).config,
      settingProblems: checkSettings({ ...this.settings }, KNOWN),
      tokens: this.tokens,
      crons: [],
      readIngest: async () => {
        await this.before("ingest");
        return this.ingest;
      },
      store: this.store,
      history: {
        ping: async () => this.before("d1 ping"),
        saveRuns: async (runs) => {
          await this.before("d1 save");
          for (const run of runs) this.rows.set(run.id, run);
        },
        deleteOldRuns: async () => {
          await this.before("d1 delete");
          return 0;
        },
      },
      readBackups: async () => {
        await this.before("backups");
        return this.backups;
      },
      inputTimeoutMs: 500,
      fetch: async (url, init) => fetch(url, init),
      deliveryLimits: this.deliveryLimits,
      sleep: async () => {},
      restart: () => {
        this.restart();
        throw new Error("the instance was ended");
      },
      now,
      newId: () => anId(++this.#ids),
      log,
      workerVersion: "v1",
    });
  }
}

/** An evaluation's result for one alert. */
export function resultOf(run: AlertRun, rule: string, label?: string) {
  const found = run.results.find(
    (result) =>
      result.rule === rule && (label === undefined || Object.values(result.labels).includes(label)),
  );
  if (found === undefined) throw new Error(`no result of ${rule}`);
  return found;
}
