import type { BackupTimes } from "../../../src/backup/read-backups.ts";
import { describe, expect, it } from "vitest";
import { RULE_NAMES, type RuleName } from "../../../src/schemas/rule-names.ts";
import type { Facts, ManifestCopies } from "../../../src/monitor/facts.ts";
import { evaluateRules, fingerprintOf, RULES } from "../../../src/monitor/rules.ts";
import { TOKEN_WARNING_MS } from "../../../src/monitor/operation-rules.ts";
import {
  aFailedRun,
  ago,
  aManifestCopy,
  anEndedRun,
  DEFAULT_LIMITS,
  HOUR_MS,
  MINUTE_MS,
  NOW,
  someBackups,
  someFacts,
  someIngestFacts,
  withIngest,
  withManifest,
  withMonitor,
} from "../../builders/facts.ts";

const context = { now: NOW, limits: DEFAULT_LIMITS };

/** The findings of one rule, or of one of the things that it watches. */
function findingsOf(rule: RuleName, facts: Facts, label?: string) {
  return evaluateRules(facts, context)
    .filter((finding) => finding.rule === rule)
    .filter(({ labels }) => label === undefined || Object.values(labels).includes(label));
}

function findingOf(rule: RuleName, facts: Facts, label?: string) {
  const [finding, ...more] = findingsOf(rule, facts, label);
  if (finding === undefined || more.length > 0) throw new Error(`not one finding of ${rule}`);
  return finding;
}

const DAILY = "17 4 * * *";

/** Facts in which the last tick of a cron trigger came at this time, or none has come. */
function withTicks(cron: string, lastTick: number | null): Facts {
  const facts = withIngest({ lastTicks: lastTick === null ? {} : { [cron]: lastTick } });
  return { ...facts, monitor: { ...facts.monitor, crons: [cron] } };
}

const A_VALUE = {
  table: "single_values",
  key: "pause",
  at: ago(HOUR_MS),
  problem: "it is not JSON",
};

const list = <T>(length: number, make: (index: number) => T) =>
  Array.from({ length }, (_, index) => make(index));

type Measured = readonly [
  rule: RuleName,
  threshold: number,
  /** Facts in which what the rule measures has a value. */
  facts: (value: number) => Facts,
  of?: {
    /** One of the things that the rule watches. */
    readonly label?: string;
    /** The least by which the value changes; 1 by default. */
    readonly step?: number;
  },
];

const MEASURED: readonly Measured[] = [
  [
    "catalog_stale",
    30 * HOUR_MS,
    (ms) => withIngest({ ended: [anEndedRun({ finished_at: ago(ms) })] }),
  ],
  ["data_old", 730 * 24 * HOUR_MS, (ms) => withManifest({ as_of: ago(ms) })],
  [
    "ingest_failing",
    3,
    (runs) => withIngest({ ended: [...list(runs, () => aFailedRun()), anEndedRun()] }),
  ],
  [
    "ingest_stuck",
    10 * MINUTE_MS,
    (ms) => withIngest({ running: { id: "run-2", stage: "encode", heartbeat_at: ago(ms) } }),
  ],
  [
    "source_broken",
    1,
    (runs) => {
      const error = { code: "source_missing_columns", message: "no ident" };
      return withIngest({ ended: [runs >= 1 ? aFailedRun({ error }) : anEndedRun()] });
    },
  ],
  [
    "replication_stuck",
    10 * MINUTE_MS,
    (ms) => withIngest({ current: { generation: 8, published_at: ago(ms) }, replicated: false }),
  ],
  ["foreign_stores", 1, (other) => withIngest({ foreign: other < 1 ? null : "R2 has …" })],
  [
    "guard_tripped",
    1,
    (trips) => {
      const guards = list(trips, () => ({ guard: "guard_shrink", message: "airports 9 → 4" }));
      return withIngest({ ended: [aFailedRun({ guards }), anEndedRun()] });
    },
  ],
  [
    "changes_held",
    48 * HOUR_MS,
    (ms) => withIngest({ held: { waiting: 2, oldest_since: ago(ms), next_due_at: null } }),
  ],
  [
    "rows_unusable",
    1,
    (rows) =>
      withIngest({
        held: {
          waiting: 0,
          oldest_since: null,
          next_due_at: null,
          ...(rows >= 1 && { unusable: [{ of: "country", name: "NA", rows }] }),
        },
      }),
  ],
  [
    "ledger_lost",
    1,
    (lost) =>
      withIngest({
        held: {
          waiting: 0,
          oldest_since: null,
          next_due_at: null,
          ...(lost >= 1 && { ledger_lost: true }),
        },
      }),
  ],
  ["history_lost", 1, (lost) => withIngest({ historyLostAt: lost < 1 ? null : ago(HOUR_MS) })],
  ["values_set_aside", 1, (values) => withMonitor({ setAside: list(values, () => A_VALUE) })],
  [
    "ingest_paused_long",
    24 * HOUR_MS,
    (ms) => withIngest({ pause: { at: ago(ms), by: "ops", note: "upstream moves" } }),
  ],
  [
    "queue_backlog",
    5,
    (runs) => {
      const queued = list(runs, (index) => ({ id: `run-${index}`, queued_at: ago(MINUTE_MS) }));
      return withIngest({ queued });
    },
    { label: "ingest" },
  ],
  [
    "queue_backlog",
    6,
    (rows) => {
      const facts = withIngest({ outboxLength: Math.min(rows, 2) });
      const outboxLength = rows - Math.min(rows, 2);
      return { ...facts, monitor: { ...facts.monitor, outboxLength } };
    },
    { label: "history" },
  ],
  [
    "integrity_mismatch",
    1,
    (copies) => {
      const copy = { replica: "kv", sha256: "a1", fault: "corrupt" } as const;
      const damaged = list(copies, () => copy);
      return someFacts({ copies: { ...someFacts().copies, damaged } });
    },
  ],
  [
    "blobs_lost",
    1,
    (blobs) => {
      const lost = list(blobs, (index) => `a${index}`);
      return someFacts({ copies: { ...someFacts().copies, lost } });
    },
  ],
  [
    "backup_stale",
    26 * HOUR_MS,
    (ms) => someFacts({ backups: { ok: true, value: someBackups({ newestFinishedAt: ago(ms) }) } }),
  ],
  [
    "backup_unverified",
    25 * HOUR_MS,
    (ms) => {
      const value = someBackups({ newestFinishedAt: ago(MINUTE_MS), newestVerifiedAt: ago(ms) });
      return someFacts({ backups: { ok: true, value } });
    },
  ],
  [
    "coverage_drop",
    5,
    (points) => withManifest({ coverage: { de: 0.9 - points / 100, en: 1 } }),
    { step: 0.1 },
  ],
  [
    "locales_differ",
    1,
    (count) => {
      const locales = ["de", "en", ...list(count, (index) => `x${index}`)];
      return withIngest({ localeSettings: { locales, defaultLocale: "en" } });
    },
  ],
  [
    "notify_failing",
    3,
    (failures) =>
      withMonitor({ targets: [{ name: "ops", failures, lastError: "it answers 500" }] }),
  ],
  [
    "ticks_missed",
    1,
    (ticks) => withTicks(DAILY, Date.parse("2026-11-20T04:17:00Z") - ticks * 24 * HOUR_MS),
  ],
  ["monitor_gap", 15 * MINUTE_MS, (ms) => withMonitor({ lastTickAt: NOW - ms })],
  [
    "token_expiring",
    1,
    (count) => {
      const ending = { id: "ci", expiresAt: NOW + TOKEN_WARNING_MS };
      const next = { id: "next", expiresAt: NOW + TOKEN_WARNING_MS + 1 };
      return withMonitor({
        tokens: [{ id: "ops", expiresAt: null }, next, ...list(count, () => ending)],
      });
    },
  ],
  ["settings_wrong", 1, (count) => withMonitor({ settingProblems: list(count, String) })],
];

describe.each(MEASURED.map(([rule, ...rest]) => ({ rule, rest })))(
  "the rule $rule",
  ({ rule, rest }) => {
    const [threshold, facts, { label, step = 1 } = {}] = rest;

    it.each([
      ["far below", 0, "good"],
      ["just below", threshold - step, "good"],
      ["at", threshold, "bad"],
      ["just above", threshold + step, "bad"],
      ["far above", threshold * 3, "bad"],
    ])("evaluates a value %s the threshold, %d, as %s", (_, value, verdict) => {
      const finding = findingOf(rule, facts(value), label);
      expect(finding).toMatchObject({ verdict, threshold, suppressed: false });
      const isOne = ["source_broken", "foreign_stores", "ledger_lost", "history_lost"].includes(
        rule,
      );
      expect(finding.value).toBeCloseTo(isOne ? Math.min(value, 1) : value, 6);
    });
  },
);

describe("ticks_missed", () => {
  const at = (text: string) => Date.parse(`2026-11-${text}Z`);
  const evaluate = (facts: Facts, now: number) =>
    evaluateRules(facts, { ...context, now }).find(({ rule }) => rule === "ticks_missed");

  it.each([
    ["right after the tick", DAILY, "03T04:17:00", "03T04:17:01", 0],
    ["before the next one is due", DAILY, "03T04:17:00", "04T04:16:59", 0],
    ["while the next one may still come", DAILY, "03T04:17:00", "04T04:31:59", 0],
    ["once that did not come", DAILY, "03T04:17:00", "04T04:32:01", 1],
    ["days later", DAILY, "03T04:17:00", "08T12:00:00", 5],
    ["after a tick of the future", DAILY, "09T04:17:00", "08T12:00:00", 0],
    ["of a trigger with a step", "*/5 * * * *", "03T04:00:00", "03T05:00:01", 9],
    ["of a weekly trigger", "0 6 * * MON", "01T00:00:00", "10T12:00:00", 2],
    ["up to a hundred", "* * * * *", "01T00:00:00", "08T12:00:00", 100],
  ])("counts missed ticks %s", (_, cron, last, now, missed) => {
    expect(evaluate(withTicks(cron, at(last)), at(now))?.value).toBe(missed);
  });

  it("expects the first tick after the first publication", () => {
    const { ingest, ...facts } = withTicks(DAILY, null);
    const published = (oldestPublishedAt: string | null) => {
      const value = someIngestFacts({ oldestPublishedAt });
      return evaluate({ ...facts, ingest: ingest.ok ? { ok: true, value } : ingest }, NOW);
    };
    expect(published(null)).toMatchObject({ verdict: "good", message: "Every tick came." });
    expect(published(ago(24 * HOUR_MS))).toMatchObject({
      verdict: "bad",
      message: '1 tick of "17 4 * * *" did not come when due.',
    });
  });
});

describe("the status of a finding", () => {
  it.each(Object.entries(RULES))(
    "is the severity of the rule %s while the finding is bad",
    (name, rule) => {
      const [, threshold, facts, { label } = {}] = MEASURED.find(([of]) => of === name) ?? [];
      const found = facts && findingOf(name as RuleName, facts(threshold ?? 0), label); // a key of RULES
      expect(found).toMatchObject({ status: rule.severity, severity: rule.severity });
    },
  );

  it("is warn while an input cannot be read", () => {
    const found = findingOf("backup_stale", someFacts({ backups: unread }));
    expect(found).toMatchObject({ verdict: "nodata", status: "warn", severity: "warn" });
  });
});

describe("the table of rules", () => {
  it("includes only rules whose thresholds are tested above", () => {
    expect(new Set(MEASURED.map(([rule]) => rule))).toEqual(new Set(RULE_NAMES));
  });

  it("finds nothing wrong with a healthy service", () => {
    const findings = evaluateRules(someFacts(), context);
    expect(findings.map(({ rule, verdict }) => [rule, verdict])).toEqual(
      findings.map(({ rule }) => [rule, "good"]),
    );
    expect(new Set(findings.map(({ rule }) => rule)).size).toBe(RULE_NAMES.length);
  });

  it("requires two ticks for conditions that may be a blip, and lets the others fire at once", () => {
    const fors = Object.entries(RULES)
      .map(([name, { forMs }]) => [name, forMs])
      .filter(([, forMs]) => forMs !== undefined);
    expect(fors).toEqual([
      ["ingest_stuck", 4 * MINUTE_MS],
      ["queue_backlog", 14 * MINUTE_MS],
      ["integrity_mismatch", 4 * MINUTE_MS],
    ]);
  });
});

type Case = readonly [title: string, facts: Facts, finding: object];

const good = { verdict: "good" } as const;
const bad = { verdict: "bad" } as const;
const missing = { ok: false, fault: "missing", detail: "catalog/manifest" } as const;
const unread = { ok: false, why: "it cannot be read (reset)" } as const;

/** Facts of a coordinator that has not answered for so many milliseconds. */
const silentFor = (ms: number): Facts => ({
  ...withMonitor({ silentSince: NOW - ms }),
  ingest: unread,
});
const unreadable = {
  ok: false,
  fault: "unreadable",
  detail: "timeout",
} as const;
const nothingServed = { kv: missing, r2: missing };
const publishedAnHourAgo = aManifestCopy({ published_at: ago(HOUR_MS) });
const guards = [{ guard: "guard_shrink", message: "airports 9074 → 4120" }];

const pausedFor = (ms: number) => ({ pause: { at: ago(ms), by: "ops", note: null } });
const aJob = (ms: number) => ({
  id: "job-1",
  kind: "restore" as const,
  stage: "restore_tables" as const,
  heartbeat_at: ago(ms),
});
const waitingFor = (ms: number) => ({ queued: [{ id: "run-2", queued_at: ago(ms) }] });
const failedBy = (code: string) => aFailedRun({ error: { code, message: "airports.csv …" } });
const comparedBefore = (ms: number) => ({ ended: [anEndedRun({ finished_at: ago(ms) })] });
const withCatalog = (kv: ManifestCopies["kv"], r2 = aManifestCopy()) =>
  someFacts({ catalog: { kv, r2 } });
const withBackups = (changes: Partial<BackupTimes>) =>
  someFacts({ backups: { ok: true, value: someBackups(changes) } });

/** Facts without any backup, seen by a monitor that has run so long. */
function withoutBackups(monitoredMs: number): Facts {
  const facts = withBackups({ newestFinishedAt: null, newestVerifiedAt: null });
  return { ...facts, monitor: { ...facts.monitor, since: NOW - monitoredMs } };
}

/** What a rule finds, apart from its threshold. */
const CASES: { readonly [rule in RuleName]?: readonly Case[] } = {
  catalog_stale: [
    [
      "counts from the publication if no success is known",
      {
        ...withIngest({ ended: [aFailedRun()] }),
        catalog: { kv: publishedAnHourAgo, r2: publishedAnHourAgo },
      },
      { value: HOUR_MS },
    ],
    [
      "counts neither a dry run nor a failure as a comparison with upstream",
      withIngest({
        ended: [
          anEndedRun({ mode: "dry_run", finished_at: ago(1) }),
          aFailedRun({ finished_at: ago(2) }),
          anEndedRun({ id: "run-0", finished_at: ago(31 * HOUR_MS) }),
        ],
      }),
      {
        verdict: "bad",
        value: 31 * HOUR_MS,
        message: "The catalog was last compared with upstream 1 d 7 h ago.",
        evidence: { generation: 7, last_success_at: ago(31 * HOUR_MS) },
      },
    ],
    [
      "is bad while nothing is published, even during a pause",
      { ...withIngest({ ...pausedFor(HOUR_MS), current: null }), catalog: nothingServed },
      { verdict: "bad", suppressed: false, value: null, message: "Nothing is published." },
    ],
    [
      "names the generation that both stores have lost, during a pause too",
      { ...withIngest(pausedFor(HOUR_MS)), catalog: nothingServed },
      {
        verdict: "bad",
        suppressed: false,
        status: "fail",
        message: expect.stringMatching(/^Both stores have lost the manifest of version \d+:/),
      },
    ],
    [
      "is not excused by a pause while no store can be read",
      { ...withIngest(pausedFor(HOUR_MS)), catalog: withCatalog(unreadable, unreadable).catalog },
      { verdict: "nodata", suppressed: false },
    ],
    [
      "only warns during a pause, however long, because ingest_paused_long reports that",
      withIngest({ ...pausedFor(90 * HOUR_MS), ...comparedBefore(120 * HOUR_MS) }),
      { verdict: "bad", suppressed: true, status: "warn", severity: "warn" },
    ],
    [
      "knows nothing without the coordinator, because the last publication may be a rollback",
      someFacts({ ingest: unread, catalog: { kv: publishedAnHourAgo, r2: publishedAnHourAgo } }),
      { verdict: "nodata" },
    ],
    ["needs the manifest of one store", withCatalog(unreadable), good],
  ],
  data_old: [
    [
      "reports nothing while nothing is published, because catalog_stale does",
      withCatalog(missing, missing),
      good,
    ],
    [
      "knows nothing while nobody has dated the data",
      withManifest({ as_of: null }),
      { verdict: "nodata" },
    ],
  ],
  ingest_failing: [
    [
      "counts neither dry runs nor cancelled or skipped runs",
      withIngest({
        ended: [
          aFailedRun(),
          aFailedRun({ mode: "dry_run" }),
          anEndedRun({ state: "cancelled" }),
          anEndedRun({ state: "skipped" }),
          aFailedRun({ id: "run-0", error: { code: "source_deadline", message: "slow" } }),
          anEndedRun(),
          aFailedRun(),
        ],
      }),
      { verdict: "good", value: 2 },
    ],
    [
      "says why the last run failed",
      withIngest({ ended: list(3, () => aFailedRun()) }),
      {
        message: "3 runs in a row have failed, the last with store_fault: KV refused",
        evidence: { runs: [{ id: "run-1" }, {}, {}] },
      },
    ],
    [
      "names a guard once, although its message starts with its name",
      withIngest({
        ended: [aFailedRun({ error: { code: "guard_empty", message: "guard_empty: no cities" } })],
      }),
      { message: "1 run has failed, the last with guard_empty: no cities" },
    ],
    [
      "leaves out what foreign stores have failed, of which a takeover must leave no advice",
      withIngest({ ended: [...list(3, () => failedBy("foreign_stores")), anEndedRun()] }),
      { verdict: "good", value: 0 },
    ],
    [
      "warns of a single failed run, before the alert",
      withIngest({ ended: [aFailedRun(), anEndedRun()] }),
      { status: "warn" },
    ],
  ],
  ingest_paused_long: [
    [
      "evaluates a time that is not one as bad",
      withIngest({ pause: { at: "yesterday", by: "ops", note: null } }),
      bad,
    ],
  ],
  ingest_stuck: [
    [
      "warns while the coordinator has been silent briefly",
      silentFor(10 * MINUTE_MS - 1),
      { status: "warn" },
    ],
    [
      "fails once the coordinator has been silent for long",
      silentFor(10 * MINUTE_MS),
      {
        verdict: "bad",
        status: "fail",
        message: "There has been no progress for 10 min: it cannot be read (reset).",
      },
    ],
    [
      "evaluates the runs of a coordinator that answers again",
      withMonitor({ silentSince: NOW - HOUR_MS }),
      good,
    ],
    [
      "finds the oldest run that waits although nothing runs",
      withIngest({
        queued: [
          { id: "run-2", queued_at: ago(10 * MINUTE_MS) },
          { id: "run-3", queued_at: ago(MINUTE_MS) },
        ],
      }),
      { verdict: "bad", evidence: { run_id: "run-2" } },
    ],
    [
      "lets a run wait while another one runs",
      withIngest({
        ...waitingFor(10 * MINUTE_MS),
        running: { id: "run-1", stage: "fetch", heartbeat_at: ago(1) },
      }),
      { verdict: "good", value: 1 },
    ],
    [
      "lets a run wait for another job",
      withIngest({ ...waitingFor(HOUR_MS), job: aJob(MINUTE_MS) }),
      good,
    ],
    [
      "fails while a restore is stuck, also during a pause",
      withIngest({ ...pausedFor(1), job: aJob(10 * MINUTE_MS) }),
      {
        status: "fail",
        evidence: { job_id: "job-1" },
        message: "Restore job-1 has been in stage restore_tables without a heartbeat for 10 min.",
      },
    ],
    [
      "lets a run wait during a pause",
      withIngest({ ...pausedFor(1), ...waitingFor(HOUR_MS) }),
      good,
    ],
    [
      "counts the wait of a retried run from its due time",
      withIngest({ ...waitingFor(HOUR_MS), nextDueAt: ago(10 * MINUTE_MS) }),
      { verdict: "bad", value: 10 * MINUTE_MS },
    ],
    [
      "lets a retried run wait for nine minutes after its due time",
      withIngest({ ...waitingFor(HOUR_MS), nextDueAt: ago(9 * MINUTE_MS) }),
      good,
    ],
    [
      "lets a retried run wait for its due time",
      withIngest({ ...waitingFor(HOUR_MS), nextDueAt: ago(-MINUTE_MS) }),
      { verdict: "good", value: 0, message: "Nothing is stuck." },
    ],
  ],
  source_broken: [
    [
      "ends with the next run that ends otherwise",
      withIngest({ ended: [anEndedRun(), failedBy("source_empty")] }),
      good,
    ],
  ],
  values_set_aside: [
    [
      "names a value of the coordinator",
      withIngest({ setAside: [A_VALUE] }),
      {
        status: "warn",
        message:
          "Stored values were unreadable or dated in the future: single_values pause. See GET /admin/monitor/set-aside.",
      },
    ],
  ],
  history_lost: [
    [
      "is reported for a week, because no restore brings back the audit",
      withIngest({ historyLostAt: ago(7 * 24 * HOUR_MS) }),
      good,
    ],
  ],
  foreign_stores: [
    [
      "is bad as soon as the coordinator has lost its state, before it has looked at the stores",
      withIngest({ current: null, ended: [] }),
      { status: "fail", message: expect.stringContaining("it has lost its state") },
    ],
    [
      "is good before the first publication",
      { ...withIngest({ current: null, ended: [] }), catalog: nothingServed },
      good,
    ],
    [
      "is bad as soon as R2 has another version of the same number",
      someFacts({ catalog: { kv: aManifestCopy(), r2: publishedAnHourAgo } }),
      { status: "fail", message: expect.stringContaining("another version 7") },
    ],
    [
      "is good while R2 shows a newer version, which this installation may have published meanwhile",
      someFacts({ catalog: { kv: aManifestCopy(), r2: aManifestCopy({ generation: 8 }) } }),
      good,
    ],
  ],
  rows_unusable: [
    [
      "names the countries, files and reasons",
      withIngest({
        held: {
          waiting: 0,
          oldest_since: null,
          next_due_at: null,
          unusable: [
            { of: "airports", name: "unknown_country", rows: 40 },
            { of: "country", name: "NA", rows: 32 },
          ],
        },
      }),
      {
        ...bad,
        value: 40,
        message: expect.stringContaining("40 of airports (unknown_country), 32 of airports in NA"),
      },
    ],
  ],
  guard_tripped: [
    [
      "stays bad while later runs fail otherwise and dry runs pass",
      withIngest({
        ended: [aFailedRun(), anEndedRun({ mode: "dry_run" }), aFailedRun({ id: "held", guards })],
      }),
      {
        verdict: "bad",
        message: "Run held was refused: guard_shrink: airports 9074 → 4120",
        evidence: { run_id: "held", guards },
      },
    ],
    [
      "ends once a run succeeds, even one forced past its guards",
      withIngest({ ended: [anEndedRun({ outcome: "published", guards }), aFailedRun({ guards })] }),
      good,
    ],
  ],
  integrity_mismatch: [
    [
      "is bad if the manifest is missing in one store",
      withCatalog(missing),
      {
        verdict: "bad",
        value: 1,
        message: "1 copy is not what was published: kv manifest is missing.",
      },
    ],
    [
      "is bad if the manifest is corrupt",
      withCatalog({ ok: false, fault: "corrupt", detail: "not JSON" }),
      { verdict: "bad", value: 1, message: expect.stringContaining("kv manifest is corrupt") },
    ],
    [
      "is bad if the manifest is an older one",
      withCatalog(aManifestCopy({ generation: 6 })),
      {
        verdict: "bad",
        value: 1,
        status: "warn",
        message: expect.stringContaining("kv manifest shows generation 6 instead of 7"),
      },
    ],
    [
      "is bad if KV shows a newer manifest than R2, which is written first",
      withCatalog(aManifestCopy({ generation: 9 })),
      { verdict: "bad", value: 1 },
    ],
    [
      "is good if both stores show a newer version, published since the coordinator answered",
      withManifest({ generation: 8 }),
      good,
    ],
    [
      "is bad if a store shows another version of the same number",
      withCatalog(publishedAnHourAgo),
      { ...bad, message: expect.stringContaining("kv manifest is another one of generation 7") },
    ],
    [
      "is bad if both stores have lost what the coordinator has published",
      withCatalog(missing, missing),
      { verdict: "bad", value: 2 },
    ],
    [
      "is good if nothing was ever published",
      { ...withIngest({ current: null, ended: [] }), catalog: nothingServed },
      good,
    ],
    [
      "waits while the stores are still receiving a version that was just published",
      withIngest({ current: { generation: 8, published_at: ago(MINUTE_MS) }, replicated: false }),
      good,
    ],
    [
      "knows nothing while one store cannot be read",
      withCatalog(unreadable),
      { verdict: "nodata", message: "Unknown: kv manifest is unreadable (timeout)." },
    ],
    [
      "does not hide a damaged copy behind one that cannot be read",
      someFacts({
        copies: {
          locale: "en",
          checked: 3,
          damaged: [{ replica: "r2", sha256: "ab", fault: "missing" }],
          lost: [],
          unreadable: ["kv: timeout"],
        },
      }),
      { verdict: "bad", value: 1 },
    ],
  ],
  blobs_lost: [
    [
      "counts the lost blobs of bodies, not the damaged copies, and says what clients get",
      someFacts({
        copies: {
          locale: "en",
          checked: 3,
          damaged: [
            { replica: "kv", sha256: "ab", fault: "corrupt" },
            { replica: "r2", sha256: "ab", fault: "missing" },
            { replica: "kv", sha256: "cd", fault: "missing" },
            { replica: "r2", sha256: "cd", fault: "missing" },
          ],
          lost: ["ab"],
          unreadable: ["kv: timeout"],
        },
      }),
      {
        status: "fail",
        value: 1,
        message: "1 blob has no intact copy: requests for it fail with data_loss.",
        evidence: { lost: ["ab"] },
      },
    ],
  ],
  backup_stale: [
    [
      "says why it knows nothing",
      someFacts({ backups: unread }),
      { message: `Unknown: ${unread.why}.`, value: null, evidence: { why: unread.why } },
    ],
    [
      "waits for the first backup from the start of the monitor",
      withoutBackups(26 * HOUR_MS - 1),
      good,
    ],
    [
      "is bad 26 hours after the start of the monitor without a backup",
      withoutBackups(26 * HOUR_MS),
      { verdict: "bad", message: "There has been no backup, for 1 d 2 h." },
    ],
    [
      "is bad for an old backup even if that is verified",
      withBackups({ newestFinishedAt: ago(100 * HOUR_MS), newestVerifiedAt: ago(100 * HOUR_MS) }),
      bad,
    ],
  ],
  backup_unverified: [
    [
      "says how old the last verified backup is",
      withBackups({ newestVerifiedAt: ago(26 * HOUR_MS) }),
      {
        verdict: "bad",
        message: "The newest backup is not verified; the last verified one is 1 d 2 h old.",
      },
    ],
    [
      "says that no backup has ever been verified",
      withBackups({ newestVerifiedAt: null }),
      { verdict: "bad", message: "The newest backup is not verified; no other is either." },
    ],
    [
      "is bad at once if the newest backup has failed its verification",
      withBackups({ newestFailure: "the object ab… is missing" }),
      {
        verdict: "bad",
        message: "The newest backup cannot be restored: the object ab… is missing.",
      },
    ],
    ["is good without any backup", withoutBackups(26 * HOUR_MS), good],
    [
      "is good for an old backup that is verified",
      withBackups({ newestFinishedAt: ago(100 * HOUR_MS), newestVerifiedAt: ago(100 * HOUR_MS) }),
      good,
    ],
  ],
  coverage_drop: [
    ["needs the manifest of one store", withCatalog(unreadable), good],
    [
      "ignores a locale that was removed or is new",
      withManifest({ coverage: { en: 1, fr: 0.2 } }),
      { verdict: "good", value: 0 },
    ],
    [
      "names the locale that has lost the most",
      withManifest({ coverage: { de: 0.8, en: 0.7 } }),
      {
        value: 30,
        message: "The locale en has lost 30 points of coverage.",
        evidence: { drops: [{ locale: "en" }, { locale: "de" }] },
      },
    ],
  ],
  locales_differ: [
    [
      "is good before the first publication",
      someFacts({ catalog: nothingServed }),
      { ...good, value: 0 },
    ],
    [
      "names the default locale that is not published, what answers instead, and what to do",
      withIngest({ localeSettings: { locales: ["es", "fr"], defaultLocale: "fr" } }),
      {
        ...bad,
        value: 4,
        message:
          "Version 7 lacks es, fr of LOCALES. DEFAULT_LOCALE is fr: en answers instead. Version 7 has de, en, which LOCALES does not name: the next publication ends that. Queue an ingest to publish LOCALES, and resume if it is paused; or change the settings.",
      },
    ],
    [
      "names a locale that the settings drop",
      withIngest({ localeSettings: { locales: ["en"], defaultLocale: "en" } }),
      { ...bad, value: 1, message: expect.stringContaining("Version 7 has de,") },
    ],
  ],
  monitor_gap: [
    [
      "is good until the first tick has come",
      withMonitor({ lastTickAt: null, since: NOW - 24 * HOUR_MS }),
      { verdict: "good", message: "No tick has come yet." },
    ],
  ],
  token_expiring: [
    [
      "names each token with its end, even one that has expired",
      withMonitor({
        tokens: [
          { id: "ci", expiresAt: NOW + 30 * HOUR_MS },
          { id: "old", expiresAt: NOW },
        ],
      }),
      {
        message: 'The admin token "ci" expires in 1 d 6 h. The admin token "old" has expired.',
      },
    ],
  ],
  settings_wrong: [
    [
      "names each wrong setting",
      withMonitor({ settingProblems: ["there is no setting A", "B must be a whole number"] }),
      {
        message:
          "Wrong settings: there is no setting A; B must be a whole number. The service goes on with the defaults; ingest runs that need a wrong setting fail.",
      },
    ],
  ],
};

describe.each(Object.entries(CASES))("%s", (rule, cases) => {
  it.each(cases)("%s", (_, facts, finding) => {
    expect(findingOf(rule as RuleName, facts)).toMatchObject(finding); // a key of CASES
  });
});

describe("queue_backlog", () => {
  it("lets runs wait while ingestion is paused", () => {
    const queued = list(9, (index) => ({ id: `run-${index}`, queued_at: ago(HOUR_MS) }));
    const facts = withIngest({ ...pausedFor(HOUR_MS), queued });
    expect(findingOf("queue_backlog", facts, "ingest")).toMatchObject({
      verdict: "good",
      value: 0,
      message: "9 runs wait for resume.",
    });
  });
});

describe("source_broken", () => {
  it.each([
    ["source_missing_columns", "bad"],
    ["source_http_refused", "bad"],
    ["source_too_large", "bad"],
    ["source_http_status", "good"],
    ["source_unreachable", "good"],
    ["source_deadline", "good"],
    ["source_broken_off", "good"],
    ["source_truncated", "bad"],
    ["store_fault", "good"],
    ["guard_shrink", "good"],
  ])("evaluates one run that failed by %s as %s", (code, verdict) => {
    const ended = [failedBy(code), anEndedRun()];
    expect(findingOf("source_broken", withIngest({ ended })).verdict).toBe(verdict);
    expect(findingOf("ingest_failing", withIngest({ ended })).verdict).toBe("good");
  });
});

describe("an input that cannot be read", () => {
  it.each<[string, Partial<Facts>, readonly RuleName[]]>([
    [
      "the coordinator",
      { ingest: unread },
      [
        "catalog_stale",
        "ingest_failing",
        "source_broken",
        "ingest_stuck",
        "replication_stuck",
        "foreign_stores",
        "guard_tripped",
        "rows_unusable",
        "changes_held",
        "ingest_paused_long",
        "queue_backlog",
        "queue_backlog",
        "ledger_lost",
        "history_lost",
        "coverage_drop",
        "locales_differ",
        "ticks_missed",
      ],
    ],
    [
      "the manifest in both stores",
      { catalog: { kv: unreadable, r2: unreadable } },
      [
        "catalog_stale",
        "data_old",
        "blobs_lost",
        "integrity_mismatch",
        "coverage_drop",
        "locales_differ",
      ],
    ],
    ["D1", { history: unread }, ["queue_backlog"]],
    ["the list of backups", { backups: unread }, ["backup_stale", "backup_unverified"]],
  ])("leaves exactly the rules over %s without data", (_, facts, rules) => {
    const found = evaluateRules(someFacts(facts), context);
    expect(found.filter(({ verdict }) => verdict === "nodata").map(({ rule }) => rule)).toEqual(
      rules,
    );
  });
});

describe("a fingerprint", () => {
  it("stays the same for the same rule and labels in any order, and differs for all others", () => {
    const a = fingerprintOf("queue_backlog", { queue: "ingest", zone: "x" });
    expect(fingerprintOf("queue_backlog", { zone: "x", queue: "ingest" })).toBe(a);
    expect(a).toMatch(/^[0-9a-f]{16}$/);
    const all = evaluateRules(someFacts(), context).map(({ fingerprint }) => fingerprint);
    expect(new Set(all).size).toBe(all.length);
  });
});
