import type { MonitorStatus } from "../../alerts/monitor.ts";
import type { Manifest } from "../../catalog/manifest.ts";
import type { CoordinatorStatus } from "../../coordinator/status.ts";
import type { Check, Checks } from "../../health/check.ts";
import {
  checkCoordinator,
  checkEmptyStores,
  checkLosses,
  checkMonitor,
} from "../../health/service-checks.ts";
import { describeError, logLine } from "../../log.ts";
import { StoreTimeout, withDeadline } from "../../storage/deadline.ts";
import { TablesMissing } from "../../storage/migrations.ts";
import { otherVersion } from "../calls.ts";
import type { Platform } from "../platform.ts";
import { observeCatalog } from "./catalog-health-routes.ts";

/** The service as it is now. The status, the summary and the answers are views of it. */
export interface Observation {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Null if no version can be read. */
  readonly manifest: Manifest | null;
  /** Null if the coordinator does not answer. */
  readonly coordinator: CoordinatorStatus | null;
  /** Null if the monitor does not answer. */
  readonly monitor: MonitorStatus | null;
  readonly checks: Checks;
}

const STORE_DEADLINE_MS = 1_000;
const DEADLINE_MS = 2_000;

const BUSY: Check = {
  status: "warn",
  output: "no answer in time; a step of a run may be keeping it busy",
};

/** Reads every part within its deadline. Never rejects: a part that does not answer is a check. */
export async function observe(platform: Platform): Promise<Observation> {
  const { probes, coordinator, alerts, limits, now } = platform;
  const [kv, d1, r2, catalog, status, monitor] = await Promise.all([
    probe("kv", { deadlineMs: STORE_DEADLINE_MS, now }, probes.kv),
    probe("d1", { deadlineMs: STORE_DEADLINE_MS, now }, probes.d1),
    probe("r2", { deadlineMs: STORE_DEADLINE_MS, now }, probes.r2),
    observeCatalog(platform),
    probe("coordinator", { deadlineMs: DEADLINE_MS, now, late: BUSY }, () => coordinator.status()),
    probe("monitor", { deadlineMs: DEADLINE_MS, now }, () => alerts.status()),
  ]);
  const at = now();
  return {
    at,
    manifest: catalog.manifest,
    coordinator: status.value,
    monitor: monitor.value,
    checks: {
      "kv:responseTime": [kv.check],
      "d1:responseTime": [d1.check],
      "r2:responseTime": [r2.check],
      "coordinator:responseTime": [status.check],
      "monitor:responseTime": [monitor.check],
      ...(monitor.value && checkMonitor(monitor.value, { now: at, limits })),
      // After the monitor's findings: what is read live is newer.
      ...(status.value && checkLosses(status.value, { manifest: catalog.manifest, now: at })),
      ...(status.value && checkCoordinator(status.value)),
      ...catalog.checks,
      ...(catalog.isEmpty &&
        status.value &&
        monitor.value &&
        checkEmptyStores(status.value, monitor.value)),
    },
  };
}

interface ProbeOptions {
  readonly deadlineMs: number;
  readonly now: () => number;
  /** The finding if there is no answer in time; it fails by default. */
  readonly late?: Check;
}

/** Asks a component, and measures how long it takes. */
async function probe<T>(
  name: string,
  { deadlineMs, now, late }: ProbeOptions,
  call: () => Promise<T>,
): Promise<{ readonly value: T | null; readonly check: Check }> {
  const began = now();
  try {
    const value = await withDeadline(name, deadlineMs, call());
    return {
      value,
      check: { status: "pass", observedValue: now() - began, observedUnit: "ms" },
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
