/** Requests and answers as the OpenAPI document shows them. A test validates them against its schemas. */
import type { HeldChange } from "../src/acceptance/held-change.ts";
import type { ShownAuditEntry } from "../src/admin/audit/audit-entry.ts";
import type { Comparison } from "../src/admin/catalog/comparison-schema.ts";
import type { Answer } from "../src/admin/health/health-schema.ts";
import type { AlertResult, AlertRun, Receipt } from "../src/alerts/alert-run.ts";
import type { Backup } from "../src/backup/backup.ts";
import type { BackupJob } from "../src/backup/job.ts";
import type { ListedRun } from "../src/coordinator/run.ts";
import type { Version } from "../src/coordinator/version-schema.ts";
import { RULE_NAMES } from "../src/health/rule-names.ts";

const HASH = "f8b1a51b22f2b14617b4bb5ef96947a2f807a3d62e850a43861f691490a25eb5";
const EARLIER_HASH = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";
const WORKER_VERSION = "24548b75-5b6e-43db-a32d-908d172c55d8";
const COUNTS = { airports: 9120, cities: 8617, countries: 250, regions: 2309 };
const LAST_PAGE = { next_cursor: null, total: 1 };

const run: ListedRun = {
  id: "01a20a79-4132-77d5-9569-3b8f9a4ee0f6",
  state: "queued",
  outcome: null,
  trigger: "manual",
  mode: "full",
  source: "ourairports",
  forced: false,
  requested_by: "ann",
  note: "after the correction",
  attempt: 1,
  parent_run_id: null,
  candidate_of: null,
  cancellation: null,
  retries: 0,
  queued_at: "2026-11-23T22:14:08.434Z",
  started_at: null,
  heartbeat_at: null,
  finished_at: null,
  duration_ms: null,
  stage: null,
  progress: { done: 0, total: 0 },
  skipped_reason: null,
  skip_count: 0,
  upstream: {},
  counts: null,
  accounting: null,
  held: null,
  rejects: [],
  rejects_total: 0,
  guards: [],
  generation_before: null,
  generation_after: null,
  catalog_sha256: null,
  error: null,
  worker_version: WORKER_VERSION,
};

const cancelledRun: ListedRun = {
  ...run,
  state: "cancelled",
  cancellation: { by: "ann", at: "2026-11-23T22:14:12.673Z", note: "not needed" },
  finished_at: "2026-11-23T22:14:12.673Z",
  duration_ms: 0,
};

const all = (seen: number) => ({ seen, kept: seen, rejected: 0, added: 0, changed: 0, removed: 0 });

const publishedRun: ListedRun = {
  ...run,
  state: "succeeded",
  outcome: "published",
  started_at: "2026-11-23T22:14:08.501Z",
  heartbeat_at: "2026-11-23T22:14:33.020Z",
  finished_at: "2026-11-23T22:14:33.102Z",
  duration_ms: 24601,
  stage: "verify",
  progress: { done: 79, total: 79 },
  upstream: {
    "airports.csv": {
      sha256: "db4ffd61ae68c53cce18880eeab12cdd963aa628f4a01cd3cebc161b0d9d731d",
      bytes: 12_409_344,
      etag: '"68e5f9a1-bd5a00"',
    },
  },
  counts: {
    airports: { ...all(9120), changed: 1 },
    cities: all(8617),
    countries: all(250),
    regions: all(2309),
  },
  generation_before: 1,
  generation_after: 2,
  catalog_sha256: HASH,
};

const version: Version = {
  generation: 2,
  published_at: "2026-11-23T22:14:32.980Z",
  catalog_sha256: HASH,
  counts: COUNTS,
  locales: ["de", "en"],
  is_current: true,
  republishes: null,
  has_diff: true,
};

const NOTHING = { added: [], changed: [], removed: [] };
const unchanged = { counts: { added: 0, changed: 0, removed: 0 }, ...NOTHING };

const from = {
  generation: 1,
  published_at: "2026-11-22T04:17:21.757Z",
  catalog_sha256: EARLIER_HASH,
};
const to = { generation: 2, published_at: version.published_at, catalog_sha256: HASH };

const comparison: Comparison = {
  from: { ...from, counts: COUNTS },
  to: { ...to, counts: COUNTS },
  changes: {
    locale: "en",
    airports: {
      ...NOTHING,
      counts: { added: 0, changed: 1, removed: 0 },
      changed: [
        {
          id: "d6c5e97f-0963-41d0-8001-000000001253",
          label: "AGU Jesús Terán Peredo International Airport",
          before: { name: "Aguascalientes International Airport" },
          after: { name: "Jesús Terán Peredo International Airport" },
        },
      ],
    },
    cities: unchanged,
    countries: unchanged,
    regions: unchanged,
  },
};

const airport: HeldChange["after"] = {
  iata: "AGU",
  icao: "MMAS",
  name: "Jesús Terán Peredo International Airport",
  lat: 21.6996,
  lon: -102.3184,
  country: "MX",
  region: "MX-AGU",
  municipality: "Aguascalientes",
  type: "medium_airport",
  scheduled: true,
};

const held: HeldChange = {
  id: "4691-894f47bf81605219",
  state: "waiting",
  airport: "4691",
  iata: "AGU",
  name: "Aguascalientes International Airport",
  rules: ["changes_name"],
  before: { ...airport, name: "Aguascalientes International Airport" },
  after: airport,
  since: "2026-11-23T22:14:09.110Z",
  wanted_since: "2026-11-23T22:14:09.110Z",
  due_at: "2026-11-26T22:14:09.110Z",
  last_seen: "2026-11-23T22:14:09.110Z",
  run_id: run.id,
  source: "ourairports",
  decided_by: null,
  decided_at: null,
  note: null,
};

const decided = { decided_by: "ann", decided_at: "2026-11-24T08:02:11.000Z", due_at: null };
const approval = {
  changed: true,
  message: `One change is approved. Run ${run.id} takes over what upstream still says.`,
  held: [{ ...held, ...decided, state: "approved" }],
  run: { ...run, mode: "incremental", note: "takes over approved changes" },
};
const rejection = {
  changed: true,
  message: "One change is rejected until upstream says something else.",
  held: [{ ...held, ...decided, state: "rejected" }],
  run: null,
};

const BACKUP_ID = "01a20a78-fb48-7377-a89f-9096e514e845";

const backup: Backup = {
  id: BACKUP_ID,
  state: "complete",
  trigger: "manual",
  note: "before the change of sources",
  pinned: false,
  started_at: "2026-11-23T22:13:50.884Z",
  finished_at: "2026-11-23T22:14:27.639Z",
  duration_ms: 36755,
  size_bytes: 210665597,
  parts: 4,
  objects: 722,
  tables: { audit: { rows: 2 }, ingest_runs: { rows: 1 } },
  generation: 1,
  catalog_sha256: EARLIER_HASH,
  verified: { state: "unverified", at: null, message: "It has not been verified yet." },
  expires_at: null,
  problem: null,
};

const job: BackupJob = {
  id: "01a20a78-fb48-7377-a89f-968f058cf792",
  kind: "verify",
  backup_id: BACKUP_ID,
  chain: ["01a20a78-fb48-7377-a89f-968f058cf792"],
  trigger: "manual",
  note: null,
  pin: false,
  requested_by: "ann",
  state: "queued",
  stage: null,
  progress: { done: 0, total: 0 },
  queued_at: "2026-11-23T22:15:50.536Z",
  started_at: null,
  heartbeat_at: null,
  finished_at: null,
  duration_ms: null,
  verdict: null,
  generation: null,
  paused: null,
  kept_for: [],
  error: null,
};
const jobMessage = ({ id }: BackupJob) =>
  `The job is queued. GET /admin/backup/jobs/${id} shows its progress.`;
const repeatMessage = ({ id, state }: BackupJob) =>
  `The same job was queued before, and is ${state}. GET /admin/backup/jobs/${id} shows its progress.`;
const verification = { changed: true, message: jobMessage(job), job };

const backupJob: BackupJob = {
  ...job,
  id: BACKUP_ID,
  kind: "run",
  chain: [BACKUP_ID, job.id],
  note: backup.note,
};

const saved = "01a20a80-3f10-7b21-9c55-0a3b5e6f7081";
const restoreJob: BackupJob = {
  ...job,
  id: "01a20a80-3f10-7b21-9c55-0a3b5e6f7082",
  kind: "restore",
  chain: [saved, "01a20a80-3f10-7b21-9c55-0a3b5e6f7082", "01a20a80-3f10-7b21-9c55-0a3b5e6f7083"],
};

const alert: AlertResult = {
  rule: "catalog_stale",
  fingerprint: "68022624b482e936",
  labels: {},
  severity: "fail",
  status: "fail",
  state: "firing",
  previous_state: "firing",
  since: "2026-11-24T10:20:00.339Z",
  value: 109_200_000,
  threshold: 108_000_000,
  unit: "ms",
  message: "The catalog was last compared with upstream 30 h 20 min ago.",
  evidence: { generation: 2, published_at: version.published_at },
  suppressed: false,
  notified: [],
};

const alertRun: AlertRun = {
  id: "01a20a79-92ab-7488-841a-883850c3c3eb",
  trigger: "cron",
  requested_by: "cron",
  started_at: "2026-11-24T10:40:00.292Z",
  finished_at: "2026-11-24T10:40:00.351Z",
  duration_ms: 59,
  worst: "fail",
  rules_total: RULE_NAMES.length,
  pending: 0,
  firing: 1,
  fired: 0,
  resolved: 0,
  nodata: 0,
  suppressed: 0,
  notified: 0,
  notify_failed: 0,
  changed: false,
  results: [alert],
  deliveries: [],
  ping: "sent",
  worker_version: WORKER_VERSION,
};

const receipt: Receipt = {
  target: "ops",
  delivered: true,
  attempts: 1,
  status: 200,
  error: null,
  at: "2026-11-24T10:41:10.000Z",
  duration_ms: 84,
};

const setAside = {
  table: "decisions",
  key: "12",
  at: "2026-11-24T10:45:24.796Z",
  problem: "verdict: Invalid input: expected string, received null",
  text: '{"id":"4368-02e31f51aa8b1b6a","verdict":null}',
};

const auditEntry: ShownAuditEntry = {
  id: "01a20a79-811c-75ca-9e48-9e57d9dbfd9d",
  at: "2026-11-24T10:45:24.796Z",
  actor: "ann",
  action: "catalog.rollback",
  target: "1",
  outcome: "done",
  status: 200,
  code: null,
  detail: null,
  request: { generation: 1, expected_generation: 2, note: "bad names" },
  before: { generation: 2 },
  after: { generation: 3, catalog_sha256: EARLIER_HASH },
  request_id: "cc9a9672-dea7-439b-bbdc-fd4af08b7e05",
};

const answers: readonly Answer[] = [
  {
    question: "served",
    status: "pass",
    at: "2026-11-23T22:15:31.082Z",
    answer: "Yes",
    details: [
      { text: "Version 2", at: null, links: [{ text: "History", href: "#versions" }] },
      { text: "9,120 airports in 64 locales", at: null, links: [] },
    ],
  },
];

const pass = (observedValue: number) => [{ status: "pass", observedValue, observedUnit: "ms" }];
const at = "2026-11-23T22:15:31.082Z";
const paused = {
  paused: true,
  paused_at: "2026-11-23T22:14:04.296Z",
  paused_by: "ann",
  note: "bad names",
  until: null,
};
const resumed = { paused: false, paused_at: null, paused_by: null, note: null, until: null };
const catalog = { generation: 2, catalog_sha256: HASH, as_of: "2025-04-17", counts: COUNTS };

const failure = "the stores do not answer";

/** The success of each operation, by its `operationId`; with a status, what only that one answers. */
export const EXAMPLES: { readonly [operationId: string]: unknown } = {
  getPause: paused,
  pauseIngestion: { ...paused, changed: true, run: null, message: "Ingestion is paused." },
  resumeIngestion: { ...resumed, changed: true, run: null, message: "Ingestion has resumed." },
  getQueue: {
    paused: false,
    running: null,
    queued: [{ will_start: "now", queue_position: 1, run, message: "The run starts now." }],
  },
  queueRun: {
    changed: true,
    message: "The run is queued. The run starts now.",
    will_start: "now",
    queue_position: 1,
    queue_depth: 1,
    paused: false,
    run,
  },
  "queueRun 200": {
    changed: false,
    message: "The same run was queued before. It starts now.",
    will_start: "now",
    queue_position: 1,
    queue_depth: 1,
    paused: false,
    run,
  },
  listRuns: { runs: [publishedRun], ...LAST_PAGE, paused: false },
  getRun: { ...publishedRun, changes: comparison.changes },
  cancelRun: { changed: true, message: "The run is cancelled.", run: cancelledRun },
  listHeldChanges: { held: [held], by_rule: { changes_name: 1 }, ...LAST_PAGE },
  approveHeldChange: approval,
  approveHeldChanges: approval,
  rejectHeldChange: rejection,
  rejectHeldChanges: rejection,
  listVersions: { versions: [version], ...LAST_PAGE },
  rollBack: {
    changed: true,
    message:
      "Generation 1 is published again, as 3. It becomes visible everywhere within about a minute.",
    version: { ...version, generation: 3, catalog_sha256: EARLIER_HASH, republishes: 1 },
  },
  takeOver: {
    changed: true,
    message:
      "The stores are this installation's now. Ingestion is paused: see in GET /admin/audit whether it was paused before, then POST /admin/ingest/resume.",
    version: { ...version, generation: 3, republishes: 2 },
  },
  getCatalogDiff: {
    ...comparison.changes,
    from,
    to,
  },
  compareVersions: comparison,
  makeBackup: { changed: true, message: jobMessage(backupJob), job: backupJob, backup },
  "makeBackup 200": { changed: false, message: repeatMessage(backupJob), job: backupJob, backup },
  listBackups: { backups: [backup], ...LAST_PAGE },
  getBackup: backup,
  deleteBackup: { changed: true, message: "The backup is deleted." },
  verifyBackup: verification,
  "verifyBackup 200": { changed: false, message: repeatMessage(job), job },
  restoreBackup: {
    changed: true,
    message: `The job is queued. It follows a backup of the present state: to undo the restore, restore ${saved}. GET /admin/backup/jobs/${restoreJob.id} shows its progress.`,
    job: restoreJob,
  },
  "restoreBackup 200": { changed: false, message: repeatMessage(restoreJob), job: restoreJob },
  listBackupJobs: { jobs: [job], ...LAST_PAGE },
  getBackupJob: job,
  pinBackup: {
    changed: true,
    message: "The backup is kept until somebody unpins it.",
    backup: { ...backup, pinned: true },
  },
  unpinBackup: { changed: true, message: "The backup is left to retention.", backup },
  listAlerts: { evaluated_at: alertRun.started_at, run_id: alertRun.id, alerts: [alert] },
  listAlertRuns: { runs: [alertRun], ...LAST_PAGE, waiting: 0 },
  getAlertRun: alertRun,
  evaluateAlerts: {
    changed: false,
    message: `${RULE_NAMES.length} rules evaluated. Alerts: 1 firing, 0 pending, 0 without data. Notifications delivered: 0.`,
    run: { ...alertRun, trigger: "manual", requested_by: "ann" },
  },
  testWebhooks: { changed: false, message: "ops: delivered.", receipts: [receipt] },
  listAuditEntries: { entries: [auditEntry], ...LAST_PAGE },
  getMonitorStatus: {
    status: "pass",
    worker_version: WORKER_VERSION,
    at,
    answers,
    checks: { "kv:responseTime": pass(80), "coordinator:responseTime": pass(32) },
  },
  "getMonitorStatus 503": {
    status: "fail",
    output: `catalog:present: ${failure}`,
    worker_version: WORKER_VERSION,
    at,
    answers: [
      {
        question: "served",
        status: "fail",
        at,
        answer: "No",
        details: [{ text: failure, at: null, links: [] }],
      },
    ] satisfies readonly Answer[],
    checks: { "catalog:present": [{ status: "fail", output: failure }] },
  },
  listSetAside: { coordinator: [setAside], monitor: [] },
  forgetSetAside: {
    coordinator: [setAside],
    monitor: [],
    changed: true,
    message: "Forgotten: 1.",
  },
  getDashboardSummary: {
    status: "pass",
    at,
    degraded: [],
    answers,
    access: false,
    catalog: { ...catalog, published_at: version.published_at, locales: 64 },
    ingest: {
      paused: false,
      paused_at: null,
      queued: 0,
      running: null,
      last_run: {
        state: "succeeded",
        outcome: "published",
        trigger: "manual",
        finished_at: publishedRun.finished_at,
        duration_ms: publishedRun.duration_ms,
      },
      last_success_at: publishedRun.finished_at,
      held: { waiting: 1, oldest_since: held.since, next_due_at: held.due_at },
    },
    backups: { status: "ok", newest_at: backup.finished_at, newest_verified_at: null },
    alerts: {
      worst: "pass",
      evaluated_at: "2026-11-23T22:15:00.292Z",
      firing: 0,
      nodata: 0,
      pending: 0,
      webhooks: 1,
      alerts: [],
    },
  },
  getCatalogHealth: {
    status: "pass",
    ...catalog,
    published_at: version.published_at,
    airports: "all",
    locales: [{ locale: "de", bytes: 1_880_271, coverage: 0.9239 }],
    checks: { "catalog:integrity": [{ status: "pass" }] },
  },
  "getCatalogHealth 503": {
    status: "fail",
    output: `catalog:present: ${failure}`,
    checks: { "catalog:present": [{ status: "fail", output: failure }] },
  },
  getCredits: "# Credits for the data\n\n…",
  getIdentity: { id: "ann", scopes: ["read", "operate"], expires_at: "2027-11-23T00:00:00.000Z" },
};

/** The body of each request that has one, by its `operationId`. */
export const REQUESTS: { readonly [operationId: string]: object } = {
  pauseIngestion: { note: "bad names", until: "2026-11-25T08:00:00.000Z" },
  resumeIngestion: { note: "upstream is mended", run_now: true },
  queueRun: { mode: "full", note: "after the correction" },
  cancelRun: { note: "not needed" },
  approveHeldChange: { note: "the airport's own site says so" },
  approveHeldChanges: { rule: "changes_name", note: "checked" },
  rejectHeldChange: { note: "vandalism" },
  rejectHeldChanges: { run_id: run.id, note: "vandalism" },
  rollBack: { generation: 1, expected_generation: 2, note: "bad names" },
  takeOver: { note: "replaces the old installation" },
  makeBackup: { note: "before the change of sources", pin: true },
  verifyBackup: { note: "before a restore" },
  restoreBackup: { note: "the stores are lost" },
  pinBackup: { note: "before the change of sources" },
  unpinBackup: { note: "no longer needed" },
  evaluateAlerts: { note: "after the repair" },
  testWebhooks: { target: "ops" },
};

/** The detail of each problem, by its status and code. */
export const PROBLEMS: {
  readonly [status: string]: { readonly [code: string]: string };
} = {
  400: {
    body_incomplete: "The body did not arrive whole. Send it again.",
    duplicate_field: 'The field "note" is given twice.',
    duplicate_parameter: 'The parameter "limit" is given twice.',
    invalid_body: 'unknown field "nota"',
    invalid_idempotency_key:
      "The header Idempotency-Key must have 1 to 128 visible ASCII characters.",
    invalid_query: "limit: must be at most 200",
    malformed_json: "The body is not JSON in UTF-8.",
  },
  401: {
    token_expired: "This admin token has expired. `npm run token` makes another.",
    unauthenticated: "Send a valid admin token as `Authorization: Bearer <token>`.",
  },
  403: {
    cross_site: "Pages of other sites may not change anything here.",
    scope_missing: 'This credential lacks the scope "operate".',
  },
  404: {
    backup_not_found:
      "There is no backup with this id. GET /admin/backup/list lists the backups that exist.",
    changes_not_stored:
      "Generation 1 is a version from which no changes are stored in this language. Fetch the whole catalog.",
    generation_not_retained:
      "Generation 1 is not retained. GET /admin/catalog/versions lists the retained ones.",
    held_not_found: `Nothing is held under the id ${held.id}. List the held changes again.`,
    job_not_found: "There is no such job among the last hundred.",
    locale_mismatch: `${HASH} is the hash of a message in another language than the requested one. Fetch the whole catalog.`,
    not_found: "The id in the path must be that of a run from GET /admin/ingest/runs.",
    nothing_published: "Nothing is published yet.",
    run_not_found: "There is no run with this id.",
    target_not_found: 'There is no webhook "chat". The configured ones are ops.',
  },
  405: { method_not_allowed: "This path takes only GET, HEAD." },
  408: { body_late: "The body did not arrive within 10 seconds. Send it again." },
  409: {
    backup_unusable:
      "A restore cannot publish anything from this backup: the object of a segment is missing.",
    blobs_lost:
      "Both stores have lost files of version 1, and nothing has changed. Restore a backup that has it.",
    candidate_gone:
      "The files of the run candidate_of are no longer archived. Queue a run without it, which fetches from upstream.",
    foreign_stores:
      "R2 has the manifest of another installation. Give this one a bucket of its own; or call POST /admin/catalog/take-over, if the other no longer runs.",
    generation_changed:
      "Version 3 is published by now, and nothing has changed. Compare with it, and decide again.",
    in_use: "A job is working with this backup. Wait for its end.",
    newest: "This is the newest backup. Make another one first.",
    newest_verified: "This is the newest verified backup. Make and verify another one first.",
    no_targets: "No webhook is configured. Set the secret ALERT_WEBHOOKS.",
    nothing_fetched: `Run ${run.id} fetched nothing that another run could work from.`,
    paused: 'Ingestion is paused. Resume it, or send "if_paused": "queue".',
    pinned: "This backup is pinned. Unpin it first.",
    run_ended: "The run has ended already.",
    run_lost:
      "The coordinator does not know this run: nothing runs. Its row ends within five minutes.",
    run_published:
      "The run has published already. To take that back, roll back: POST /admin/catalog/rollback.",
  },
  413: { body_too_large: "The body may have at most 16384 bytes." },
  415: {
    grpc_refused: "Admin routes are plain HTTP: send application/json.",
    unsupported_media_type: "Send the body as application/json in UTF-8.",
  },
  429: {
    queue_full: "10 runs wait already. Try again later, or cancel one.",
    too_many_failures:
      "Too many requests without a valid credential. Check the token and try again later.",
  },
  500: { internal: "Internal error." },
  503: {
    access_keys_unavailable:
      "The keys of Cloudflare Access cannot be fetched. Try again later, or use an admin token.",
    admin_misconfigured:
      "The admin credentials are malformed (ADMIN_TOKENS or ACCESS_*). The Worker's log says what is wrong.",
    admin_unconfigured: "No admin credential is configured. Set the secret ADMIN_TOKENS.",
    alerts_unavailable:
      "The alert monitor does not answer. It may be evaluating all the same: see GET /admin/alerts/runs.",
    archive_unavailable:
      "The archive in R2 cannot be reached. Nothing was queued. Try again later.",
    backups_unavailable:
      "The backups in R2 cannot be reached. Serving continues. It is safe to try again later.",
    coordinator_unavailable:
      "The coordinator does not answer. A change may or may not have taken effect. Repeat it, with its Idempotency-Key if it begins work.",
    history_unavailable:
      "The history in D1 cannot be read. Serving and ingestion continue. Try again later.",
    alerts_misconfigured:
      "Nothing is evaluated, because the alert settings are wrong: ALERT_REPEAT_MS must be a whole number, 60000 to 604800000.",
    catalog_unreadable: "The catalog cannot be read now. Try again later.",
    other_version:
      "The tables of the coordinator have version 2, and this Worker knows 1. Deploy the newer Worker again.",
  },
};
