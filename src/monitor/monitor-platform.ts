import type { FactSources, TokenFacts } from "./facts.ts";
import type { Log } from "../platform/log.ts";
import type { MonitorState } from "./monitor-state.ts";
import type { AlertConfig } from "./alert-settings.ts";
import type { Network } from "./webhook.ts";

/** The dependencies of the alert monitor: its tables, settings and inputs, D1, webhooks and the clock. */
export interface MonitorPlatform extends FactSources, Network {
  readonly state: MonitorState;
  readonly config: AlertConfig;
  /** The problems of all settings of the service. */
  readonly settingProblems: readonly string[];
  readonly tokens: readonly TokenFacts[];
  /** The cron triggers that queue a run. */
  readonly crons: readonly string[];
  /** Ends this instance, as in a crash. */
  readonly restart: () => void;
  readonly newId: () => string;
  readonly log: Log;
  readonly workerVersion: string | null;
}
