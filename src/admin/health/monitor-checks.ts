import { newestTimes } from "../../backup/listing.ts";
import type { CredentialsResult } from "../../credentials.ts";
import { checkAlerts } from "../../health/alert-checks.ts";
import { checkBackups } from "../../health/backup-rules.ts";
import { checkCoordinator, checkCrons, checkRuns } from "../../health/ingest-checks.ts";
import type { RuleContext } from "../../health/rule.ts";
import { judged } from "../../health/status.ts";
import { judgeExpiry } from "../../health/monitor-rules.ts";
import { withDeadline } from "../../storage/deadline.ts";
import type { StoreProbes } from "../../storage/probes.ts";
import { findLastRuns } from "../ingest/run-list.ts";
import { checkCatalog } from "./catalog-health-routes.ts";
import type { MonitorCheck } from "./monitor-routes.ts";
import type { SummarySources } from "./summary-sections.ts";

const STORE_DEADLINE_MS = 1_000;
const DEADLINE_MS = 2_000;

export interface MonitorSources extends SummarySources {
  readonly probes: StoreProbes;
  /** The locale of a request that names none. */
  readonly defaultLocale: string;
  readonly credentials: CredentialsResult;
  /** The cron triggers that queue a run. */
  readonly crons: readonly string[];
}

/** A check of each component. */
export function monitorChecks(sources: MonitorSources): readonly MonitorCheck[] {
  const { probes, backups, alerts, limits, now } = sources;
  const context = (): RuleContext => ({ limits, now: now() });
  const check = (name: string, read: MonitorCheck["read"]) => ({
    name,
    deadlineMs: DEADLINE_MS,
    read,
  });
  return [
    ...storeChecks(probes),
    check("catalog", async () => (await checkCatalog(sources)).checks),
    {
      ...check("coordinator", async () => readCoordinator(sources, context())),
      late: { status: "warn", output: "no answer in time; a step of a run may be keeping it busy" },
    },
    check("ingest", async () => readLastRuns(sources, context())),
    check("backup", async () => checkBackups(await newestTimes(backups), context())),
    check("alerts", async () => ({
      ...checkAlerts(await alerts.status(), context()),
      ...checkTokens(sources, context()),
    })),
  ];
}

function checkTokens({ credentials }: MonitorSources, context: RuleContext) {
  const tokens = credentials.ok ? credentials.credentials.tokens : [];
  return { "tokens:expiry": [judged(judgeExpiry(tokens, context))] };
}

/** Round trips to the stores. */
function storeChecks(probes: StoreProbes): MonitorCheck[] {
  return (["kv", "d1", "r2"] as const).map((name) => ({
    name,
    deadlineMs: STORE_DEADLINE_MS,
    read: async () => {
      await probes[name]();
      return {};
    },
  }));
}

async function readCoordinator({ coordinator, crons }: MonitorSources, context: RuleContext) {
  const status = await coordinator.status();
  return { ...checkCoordinator(status, context), ...checkCrons(status, crons, context.now) };
}

async function readLastRuns({ coordinator, history }: MonitorSources, context: RuleContext) {
  // Without the coordinator, D1 still has the runs that ended before.
  const unsettled = await withDeadline(
    "coordinator",
    STORE_DEADLINE_MS,
    coordinator.unsettledRuns(),
  ).catch(() => []);
  return checkRuns(await findLastRuns(history, unsettled), context);
}
