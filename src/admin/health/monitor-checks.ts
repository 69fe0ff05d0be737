import { newestTimes } from "../../backup/listing.ts";
import { CODINGS } from "../../catalog/manifest.ts";
import { checkAlerts } from "../../health/alert-checks.ts";
import { checkBackups } from "../../health/backup-rules.ts";
import { checkServed, checkUnserved } from "../../health/catalog-checks.ts";
import { checkCoordinator, checkCrons, checkRuns } from "../../health/ingest-checks.ts";
import type { Limits } from "../../health/limits.ts";
import type { RuleContext } from "../../health/rule.ts";
import { judged } from "../../health/status.ts";
import { judgeExpiry } from "../../health/token-rules.ts";
import type { CatalogReader } from "../../storage/catalog-reader.ts";
import { withDeadline } from "../../storage/deadline.ts";
import type { History } from "../../ingest/history.ts";
import type { StoreProbes } from "../../storage/probes.ts";
import type { CredentialsResult } from "../auth/credentials.ts";
import type { AlertUseCases } from "../calls/alert-calls.ts";
import type { BackupAccess } from "../calls/backup-use-cases.ts";
import type { CoordinatorUseCases } from "../calls/coordinator.ts";
import type { MonitorCheck } from "./monitor-routes.ts";
import { findLastRuns } from "../ingest/run-list.ts";

const STORE_DEADLINE_MS = 1_000;
const DEADLINE_MS = 2_000;

interface MonitorSources {
  readonly probes: StoreProbes;
  readonly reader: CatalogReader;
  /** The locale whose body is opened. */
  readonly defaultLocale: string;
  readonly coordinator: CoordinatorUseCases;
  readonly history: History;
  readonly backups: BackupAccess;
  readonly alerts: AlertUseCases;
  readonly credentials: CredentialsResult;
  /** The cron triggers that queue a run. */
  readonly crons: readonly string[];
  readonly limits: Limits;
  readonly now: () => number;
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
    check("catalog", async () => readCatalog(sources, context())),
    {
      ...check("coordinator", async () => readCoordinator(sources, context())),
      late: { status: "warn", output: "no answer in time; a step of a run may be keeping it busy" },
    },
    check("ingest", async () => readLastRuns(sources, context())),
    check("backup", async () => checkBackups(await newestTimes(backups.store), context())),
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
function storeChecks({ kv, d1, r2 }: StoreProbes): MonitorCheck[] {
  return Object.entries({ kv, d1, r2 }).map(([name, probe]) => ({
    name,
    deadlineMs: STORE_DEADLINE_MS,
    read: async () => {
      await probe();
      return {};
    },
  }));
}

async function readCatalog({ reader, defaultLocale }: MonitorSources, context: RuleContext) {
  const current = await reader.current();
  if (!current.ok) return checkUnserved(current.reason);
  const { manifest } = current;
  const opened = await reader.open({
    manifest,
    locale: defaultLocale,
    representation: "proto",
    codings: CODINGS,
  });
  return checkServed({ manifest, opened, defaultLocale }, context);
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
