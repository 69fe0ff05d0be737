/** The parts of the service's answers that the dashboard shows. */

import type { AirportRecord, HeldChange } from "../../acceptance/held-change.ts";
import type { BackupJob } from "../../backup/job.ts";
import type { Backup } from "../../backup/backup.ts";
import type { ListedRun as Run, Run as RunDetail } from "../../coordinator/run.ts";
import type { Version } from "../../coordinator/version.ts";

export const LISTS = ["airports", "cities", "countries", "regions"] as const;
export type ListName = (typeof LISTS)[number];

/** The stages of an ingest run, in order. */
export const STAGES = [
  "fetch",
  "parse",
  "build",
  "guard",
  "encode",
  "publish",
  "verify",
] as const satisfies readonly Run["stage"][];

/** A run is shown by lists as `Run`, and by its own page as `RunDetail`. */
export type { AirportRecord, Backup, BackupJob, HeldChange, Run, RunDetail, Version };

/** A page of a history. */
type Page<List extends string, Row> = { readonly [list in List]: readonly Row[] } & {
  readonly next_cursor: string | null;
};

export type RunListPage = Page<"runs", Run> & { readonly paused: boolean | null };
export type AlertRunPage = Page<"runs", AlertRun>;
export type HeldPage = Page<"held", HeldChange>;
export type AuditPage = Page<"entries", AuditEntry>;
export type BackupList = Page<"backups", Backup> & {
  readonly status: "ok" | "stale" | "unverified" | "no_backups";
};

/** The changes to each list. */
export type CatalogDiff = Pick<NonNullable<RunDetail["changes"]>, ListName>;
export type ListDiff = CatalogDiff[ListName];
export type VersionDiff = CatalogDiff & { readonly to: Pick<Version, "generation"> };

interface AlertResult {
  readonly rule: string;
  readonly fingerprint: string;
  readonly severity: string;
  readonly state: "inactive" | "pending" | "firing" | "resolved" | "nodata";
  readonly since: string | null;
  readonly value: number | null;
  readonly threshold: number;
  readonly unit: string;
  readonly message: string;
}

export interface AlertRun {
  readonly id: string;
  readonly trigger: string;
  readonly started_at: string;
  readonly duration_ms: number | null;
  readonly worst: "pass" | "warn" | "fail";
  readonly rules_total: number;
  readonly pending: number;
  readonly firing: number;
  readonly fired: number;
  readonly resolved: number;
  readonly nodata: number;
  readonly notified: number;
  readonly notify_failed: number;
  readonly results: readonly AlertResult[];
}

export interface AuditEntry {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string | null;
  readonly outcome: "done" | "refused" | "failed";
  readonly detail: string | null;
  readonly request: unknown;
  readonly before: unknown;
  readonly after: unknown;
}

/** The service's answer to a question of an operator. */
export interface Answer {
  readonly question: "served" | "fresh" | "failed" | "changed" | "next";
  readonly status: "pass" | "warn" | "fail";
  readonly answer: string;
  readonly details: readonly {
    readonly text: string;
    readonly at: string | null;
    readonly links: readonly { readonly text: string; readonly href: string }[];
  }[];
}

/** The common part of `GET /dashboard/summary` and `GET /admin/monitor/status`. */
export interface AnswersBody {
  readonly at: string;
  readonly answers: readonly Answer[];
}
