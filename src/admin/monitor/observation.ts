import { composeBody } from "../../parts/compose.ts";
import type { MonitorStatus } from "../../monitor/monitor.ts";
import { negotiateLocale } from "../../catalog/locale.ts";
import { CODINGS, type Manifest } from "../../parts/manifest.ts";
import type { CoordinatorStatus } from "../../coordinator/status.ts";
import { checkServed, checkUnserved } from "../../monitor/catalog-checks.ts";
import type { Check, Checks } from "../../schemas/check.ts";
import {
  checkCoordinator,
  checkEmptyStores,
  checkLive,
  checkMonitor,
} from "../../monitor/service-checks.ts";
import type { Limits } from "../../monitor/alert-settings.ts";
import { describeError, logLine } from "../../platform/log.ts";
import type { AuditEntry } from "../../storage/audit-store.ts";
import { settledWithin, StoreTimeout, withDeadline } from "../../platform/deadline.ts";
import { TablesMissing } from "../../storage/migrations.ts";
import { SingleFlight } from "../../platform/once.ts";
import { CLOCK_SKEW_MS, durationOf, isRecent } from "../../platform/time.ts";
import type { DurationMs, EpochMs } from "../../platform/units.ts";
import { otherVersion } from "../calls.ts";
import type { OpenResult } from "../../storage/catalog-reader.ts";
import type { AdminPlatform } from "../admin-platform.ts";

/** The service as it is now. The status, the summary and the answers are views of it. */
export interface Observation {
  readonly at: EpochMs;
  /** Null if no version can be read. */
  readonly manifest: Manifest | null;
  readonly coordinator: CoordinatorStatus | null;
  readonly monitor: MonitorStatus | null;
  /** The last answered attempts by operators, newest first; null for the public, and if they are unreadable. */
  readonly changes: readonly AuditEntry[] | null;
  readonly checks: Checks;
  readonly limits: Limits;
}

const STORE_DEADLINE_MS = 1_000;
const OBJECT_DEADLINE_MS = 2_000;

/** Number of attempts by operators among which the answers find the last changes. */
const ATTEMPTS_READ = 50;

const NO_AUDIT: Check = { status: "warn", output: "the audit in D1 cannot be read" };

const BUSY: Check = {
  status: "warn",
  output: "no answer in time; a step of a run may be keeping it busy",
};

/**
 * Reads every part within its deadline. Never rejects: a part that does not answer is a check. The
 * audit is read for operators only, because nothing of it is public, and its rows are many.
 */
export async function observe(
  platform: AdminPlatform,
  { isPublic }: { readonly isPublic: boolean },
): Promise<Observation> {
  const { probes, coordinator, alerts, limits, now } = platform;
  const [kv, d1, r2, catalog, status, monitor, changes] = await Promise.all([
    probe("kv", { deadlineMs: STORE_DEADLINE_MS, now }, probes.kv),
    probe("d1", { deadlineMs: STORE_DEADLINE_MS, now }, probes.d1),
    probe("r2", { deadlineMs: STORE_DEADLINE_MS, now }, probes.r2),
    observeCatalog(platform),
    probe("coordinator", { deadlineMs: OBJECT_DEADLINE_MS, now, late: BUSY }, () =>
      coordinator.status(),
    ),
    probe("monitor", { deadlineMs: OBJECT_DEADLINE_MS, now }, () => alerts.status()),
    isPublic ? null : observeAudit(platform),
  ]);
  const at = now();
  return {
    at,
    manifest: catalog.manifest,
    coordinator: status.value,
    monitor: monitor.value,
    changes: changes?.value ?? null,
    limits,
    checks: {
      "kv:responseTime": [kv.check],
      "d1:responseTime": [d1.check],
      "r2:responseTime": [r2.check],
      "coordinator:responseTime": [status.check],
      "monitor:responseTime": [monitor.check],
      ...(changes && {
        "audit:responseTime": [changes.value === null ? NO_AUDIT : changes.check],
      }),
      ...(monitor.value && checkMonitor(monitor.value, at)),
      // After the monitor's findings, because live reads are newer.
      ...(status.value && checkLive(status.value, catalog.manifest, { now: at, limits })),
      ...(status.value && checkCoordinator(status.value)),
      ...catalog.checks,
      ...(catalog.isEmpty &&
        status.value &&
        monitor.value &&
        checkEmptyStores(status.value, monitor.value, at)),
    },
  };
}

function observeAudit({ audit, now }: AdminPlatform) {
  return probe("audit", { deadlineMs: OBJECT_DEADLINE_MS, now }, async () => {
    const untilMs = now() + CLOCK_SKEW_MS;
    const page = await audit.list({ limit: ATTEMPTS_READ, outcome: "done", untilMs });
    return page.ok ? page.entries : [];
  });
}

interface ProbeOptions {
  readonly deadlineMs: DurationMs;
  readonly now: () => EpochMs;
  /** The finding if there is no answer in time; it fails by default. */
  readonly late?: Check;
}

/** Asks a component, and measures how long it takes. */
async function probe<T>(
  name: string,
  { deadlineMs, now, late }: ProbeOptions,
  call: () => Promise<T>,
): Promise<{ readonly value: T | null; readonly check: Check }> {
  const startedAt = now();
  try {
    const value = await withDeadline(name, deadlineMs, call());
    return {
      value,
      check: { status: "pass", observedValue: durationOf(startedAt, now()), observedUnit: "ms" },
    };
  } catch (error) {
    const fields = { check: name, ...describeError(error) };
    logLine("warn", "check_failed", "a component did not answer its check", fields);
    const isLate = error instanceof StoreTimeout;
    const silent = isLate ? `no answer within ${deadlineMs} ms` : "it does not answer";
    const known = error instanceof TablesMissing ? error.message : otherVersion(error);
    const output = known ?? silent;
    return { value: null, check: (isLate ? late : undefined) ?? { status: "fail", output } };
  }
}

const READ_DEADLINE_MS = 2_500;
const UNAVAILABLE = { ok: false, reason: "unavailable" } as const;
const DATA_LOSS = { ok: false, reason: "data_loss" } as const;
/** Bodies that share few parts. */
const OPENED = ["proto", "json"] as const;

/** Opens and checks the catalog and bodies of the default locale, as a new isolate does. */
export async function observeCatalog({ openReader, defaultLocale, limits, now }: AdminPlatform) {
  const reader = openReader();
  const read = <T>(reading: Promise<T>) =>
    settledWithin(READ_DEADLINE_MS, reading, () => UNAVAILABLE);
  const current = await read(reader.current());
  if (!current.ok) {
    const isEmpty = current.reason === "nothing_published";
    return { manifest: null, isEmpty, checks: checkUnserved(current) };
  }
  const { manifest } = current;
  const { locale } = negotiateLocale("", manifest.locales, defaultLocale);
  const opened = await Promise.all(
    OPENED.map(async (representation): Promise<OpenResult> => {
      const [smallest] = CODINGS.flatMap((coding) => {
        const body = composeBody(manifest, { locale, representation, coding });
        return body === undefined ? [] : [{ body, coding }];
      });
      return smallest === undefined ? DATA_LOSS : read(reader.open(smallest));
    }),
  );
  const checks = checkServed({ manifest, opened, defaultLocale }, { limits, now: now() });
  return { manifest, isEmpty: false, checks };
}

/** How long an answer to the public is reused, so that visitors put no load on anything. */
export const REUSED_MS = 5_000;

/** Shares one reading between concurrent calls, and reuses the result for `ms` if `isReusable`. */
export function reuse<T>(
  ms: DurationMs,
  { now, waitUntil }: Pick<AdminPlatform, "now" | "waitUntil">,
  read: () => Promise<T>,
  isReusable: (value: T) => boolean = () => true,
): () => Promise<T> {
  const flights = new SingleFlight<T>(waitUntil, now);
  let last: { readonly value: T; readonly at: EpochMs } | undefined;
  const load = async () => {
    const at = now();
    const value = await read();
    last = isReusable(value) ? { value, at } : undefined;
    return value;
  };
  return async () =>
    last !== undefined && isRecent(last.at, ms, now()) ? last.value : flights.load("last", load);
}
