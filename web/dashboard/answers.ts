/** The parts of the service's answers that the dashboard shows: types of its schemas. */

import type { HeldChange } from "../../src/schemas/held-change.ts";
import type { ShownAuditEntry as AuditEntry } from "../../src/schemas/audit-entry.ts";
import type { Identity } from "../../src/admin/auth/identity.ts";
import type { Comparison } from "../../src/schemas/comparison.ts";
import type { Answer, Check } from "../../src/schemas/check.ts";
import type { AlertRun } from "../../src/schemas/alert-run.ts";
import type { Backup } from "../../src/schemas/backup.ts";
import type { BackupJob } from "../../src/schemas/backup-job.ts";
import type { ListedRun as Run, Run as RunDetail } from "../../src/schemas/run.ts";
import type { Pause } from "../../src/schemas/pause.ts";
import type { ListName } from "../../src/schemas/lists.ts";
import type { Version } from "../../src/schemas/version.ts";

/** A run is shown by lists as `Run`, and by its own page as `RunDetail`. */
export type { Run, RunDetail };
export type {
  AlertRun,
  Answer,
  AuditEntry,
  Backup,
  BackupJob,
  Comparison,
  HeldChange,
  Identity,
  Check,
  Version,
};

/** A page of a history. */
type Page<List extends string, Row> = { readonly [list in List]: readonly Row[] } & {
  readonly next_cursor: string | null;
  /** Rows on all pages. */
  readonly total: number;
};

export type RunListPage = Page<"runs", Run> & { readonly paused: boolean | null };
export interface AlertList {
  readonly alerts: AlertRun["results"];
}
export type AlertRunPage = Page<"runs", AlertRun>;
export type AuditPage = Page<"entries", AuditEntry>;
export type HeldPage = Page<"held", HeldChange> & {
  /** How many changes each rule marks. */
  readonly by_rule: { readonly [rule: string]: number };
};
export type BackupList = Page<"backups", Backup> & { readonly other_folders: readonly string[] };

/** `GET /admin/ingest/pause` */
export type PauseState = { readonly paused: boolean } & Pick<Pause, "until">;

/** The changes to each list. */
export type CatalogDiff = Pick<NonNullable<RunDetail["changes"]>, ListName>;
export type ListDiff = CatalogDiff[ListName];

/** The part that `GET /dashboard/summary` and `GET /admin/monitor/status` share. */
export interface AnswersBody {
  readonly answers: readonly Answer[];
  /** Only the status has them. */
  readonly checks?: { readonly [name: string]: readonly Check[] };
  /** Whether Cloudflare Access can sign operators in; only the summary says so. */
  readonly access?: boolean;
}
