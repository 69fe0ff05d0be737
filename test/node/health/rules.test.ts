import { describe, expect, it } from "vitest";
import type { Facts } from "../../../src/health/facts.ts";
import {
  evaluateRules,
  fingerprintOf,
  RULE_NAMES,
  type RuleName,
  RULES,
} from "../../../src/health/rules.ts";
import { TOKEN_WARNING_MS } from "../../../src/health/monitor-rules.ts";
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
    (ms) => withIngest({ held: { waiting: 2, oldest_since: ago(ms) } }),
  ],
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
      return someFacts({ copies: { locale: "en", checked: 24, damaged, unreadable: [] } });
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
      const value = { newestFinishedAt: ago(MINUTE_MS), newestVerifiedAt: ago(ms) };
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
    ])("judges a value %s the threshold, %d, as %s", (_, value, verdict) => {
      const finding = findingOf(rule, facts(value), label);
      expect(finding).toMatchObject({ verdict, threshold, suppressed: false });
      expect(finding.value).toBeCloseTo(rule === "source_broken" ? Math.min(value, 1) : value, 6);
    });
  },
);

describe("token_expiring", () => {
  it("names each token with its end, even one that has expired", () => {
    const tokens = [
      { id: "ci", expiresAt: NOW + 30 * HOUR_MS },
      { id: "old", expiresAt: NOW },
    ];
    const finding = findingOf("token_expiring", withMonitor({ tokens }));
    expect(finding.message).toBe(
      'The admin token "ci" expires in 1 d 6 h. The admin token "old" has expired.',
    );
    expect(finding.evidence).toEqual({
      tokens: [
        { id: "ci", expires_at: new Date(NOW + 30 * HOUR_MS).toISOString() },
        { id: "old", expires_at: new Date(NOW).toISOString() },
      ],
    });
  });
});

describe("ticks_missed", () => {
  const at = (text: string) => Date.parse(`2026-11-${text}Z`);
  const judge = (facts: Facts, now: number) =>
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
    expect(judge(withTicks(cron, at(last)), at(now))?.value).toBe(missed);
  });

  it("expects the first tick after the first publication", () => {
    const { ingest, ...facts } = withTicks(DAILY, null);
    const published = (oldestPublishedAt: string | null) => {
      const value = someIngestFacts({ oldestPublishedAt });
      return judge({ ...facts, ingest: ingest.ok ? { ok: true, value } : ingest }, NOW);
    };
    expect(published(null)).toMatchObject({ verdict: "good", message: "Every tick came." });
    expect(published(ago(24 * HOUR_MS))).toMatchObject({
      verdict: "bad",
      message: '1 ticks of "17 4 * * *" were due and did not come.',
      evidence: { triggers: [{ cron: DAILY, missed: 1 }] },
    });
  });
});

describe("the status of a finding", () => {
  const paused = { at: ago(25 * HOUR_MS), by: "ops", note: null };
  const stuck = { id: "run-2", stage: "encode", heartbeat_at: ago(10 * MINUTE_MS) };

  it.each<[string, RuleName, Facts, "pass" | "warn" | "fail"]>([
    ["passes while all is well", "catalog_stale", someFacts(), "pass"],
    ["warns of an alert", "ingest_paused_long", withIngest({ pause: paused }), "warn"],
    [
      "warns even of a severe alert while serving continues",
      "catalog_stale",
      withIngest({ ended: [anEndedRun({ finished_at: ago(31 * HOUR_MS) })] }),
      "warn",
    ],
    ["fails while a run is stuck", "ingest_stuck", withIngest({ running: stuck }), "fail"],
    [
      "warns of a single failed run, before the alert",
      "ingest_failing",
      withIngest({ ended: [aFailedRun(), anEndedRun()] }),
      "warn",
    ],
    [
      "warns without data",
      "ingest_stuck",
      someFacts({ ingest: { ok: false, why: "reset" } }),
      "warn",
    ],
  ])("%s", (_, rule, facts, status) => {
    expect(findingOf(rule, facts).status).toBe(status);
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
    expect(findings).toHaveLength(19);
  });

  it("requires two ticks for conditions that may be a blip, and lets the others fire at once", () => {
    const fors = Object.entries(RULES)
      .map(([name, { forMs }]) => [name, forMs])
      .filter(([, forMs]) => forMs !== 0);
    expect(fors).toEqual([
      ["ingest_stuck", 4 * MINUTE_MS],
      ["queue_backlog", 14 * MINUTE_MS],
      ["integrity_mismatch", 4 * MINUTE_MS],
    ]);
  });

  it("judges a value that is not a number as bad", () => {
    const facts = withIngest({ pause: { at: "yesterday", by: "ops", note: null } });
    expect(findingOf("ingest_paused_long", facts).verdict).toBe("bad");
  });
});

describe("an input that cannot be read", () => {
  const why = "it cannot be read (reset)";
  const unread = { ok: false, why } as const;
  const unreadable = {
    state: "unreadable",
    detail: "kv manifest is unreadable (timeout)",
  } as const;

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
        "guard_tripped",
        "changes_held",
        "ingest_paused_long",
        "queue_backlog",
        "queue_backlog",
        "coverage_drop",
        "ticks_missed",
      ],
    ],
    [
      "the manifest in both stores",
      { catalog: { kv: unreadable, r2: unreadable } },
      ["catalog_stale", "data_old", "integrity_mismatch", "coverage_drop"],
    ],
    ["D1", { history: unread }, ["queue_backlog"]],
    ["the list of backups", { backups: unread }, ["backup_stale", "backup_unverified"]],
  ])("leaves exactly the rules over %s without data", (_, facts, rules) => {
    const found = evaluateRules(someFacts(facts), context);
    expect(found.filter(({ verdict }) => verdict === "nodata").map(({ rule }) => rule)).toEqual(
      rules,
    );
  });

  it("is reported with the reason", () => {
    expect(findingOf("backup_stale", someFacts({ backups: unread }))).toMatchObject({
      message: `Cannot be known: ${why}.`,
      value: null,
      evidence: { why },
    });
  });

  it("leaves the catalog's age unknown, because the last publication may be a rollback", () => {
    const copy = aManifestCopy({ published_at: ago(HOUR_MS) });
    const facts = someFacts({ ingest: unread, catalog: { kv: copy, r2: copy } });
    expect(findingOf("catalog_stale", facts).verdict).toBe("nodata");
  });

  it("changes nothing if the other store has the manifest", () => {
    const facts = someFacts({ catalog: { kv: unreadable, r2: aManifestCopy() } });
    expect(findingOf("catalog_stale", facts).verdict).toBe("good");
    expect(findingOf("coverage_drop", facts).verdict).toBe("good");
    expect(findingOf("integrity_mismatch", facts)).toMatchObject({ verdict: "nodata" });
  });

  it("does not hide a copy that is known to be damaged", () => {
    const damaged = [{ replica: "r2", sha256: "ab", fault: "missing" }] as const;
    const copies = { locale: "en", checked: 3, damaged, unreadable: ["kv: timeout"] };
    const facts = someFacts({ copies });
    expect(findingOf("integrity_mismatch", facts)).toMatchObject({ verdict: "bad", value: 1 });
  });
});

describe("catalog_stale", () => {
  it("counts from the publication if no success is known", () => {
    const copy = aManifestCopy({ published_at: ago(HOUR_MS) });
    const facts = { ...withIngest({ ended: [aFailedRun()] }), catalog: { kv: copy, r2: copy } };
    expect(findingOf("catalog_stale", facts).value).toBe(HOUR_MS);
  });

  it("counts neither a dry run nor a failure as a comparison with upstream", () => {
    const facts = withIngest({
      ended: [
        anEndedRun({ mode: "dry_run", finished_at: ago(1) }),
        aFailedRun({ finished_at: ago(2) }),
        anEndedRun({ id: "run-0", finished_at: ago(31 * HOUR_MS) }),
      ],
    });
    expect(findingOf("catalog_stale", facts)).toMatchObject({
      verdict: "bad",
      value: 31 * HOUR_MS,
      message: "The catalog was last compared with upstream 1 d 7 h ago.",
      evidence: {
        generation: 7,
        last_success_run_id: "run-0",
        last_success_at: ago(31 * HOUR_MS),
      },
    });
  });

  it("is bad while nothing is published, even during a pause", () => {
    const missing = { state: "missing", detail: "catalog/manifest" } as const;
    const pause = { at: ago(HOUR_MS), by: "ops", note: null };
    const facts = { ...withIngest({ pause }), catalog: { kv: missing, r2: missing } };
    expect(findingOf("catalog_stale", facts)).toMatchObject({
      verdict: "bad",
      suppressed: false,
      value: null,
      message: "Nothing is published.",
    });
  });

  it.each([
    ["not paused", null, false],
    ["paused for less than a day", 24 * HOUR_MS - 1, true],
    ["paused for a day", 24 * HOUR_MS, false],
  ])("is excused while ingestion is %s: %s", (_, pausedMs, suppressed) => {
    const facts = withIngest({
      pause: pausedMs === null ? null : { at: ago(pausedMs), by: "ops", note: null },
      ended: [anEndedRun({ finished_at: ago(60 * HOUR_MS) })],
    });
    expect(findingOf("catalog_stale", facts)).toMatchObject({ verdict: "bad", suppressed });
  });
});

describe("data_old", () => {
  it("reports nothing while nothing is published, because catalog_stale does", () => {
    const missing = { state: "missing", detail: "catalog/manifest" } as const;
    const facts = someFacts({ catalog: { kv: missing, r2: missing } });
    expect(findingOf("data_old", facts).verdict).toBe("good");
  });
});

describe("ingest_failing", () => {
  it("counts neither dry runs nor cancelled or skipped runs", () => {
    const facts = withIngest({
      ended: [
        aFailedRun(),
        aFailedRun({ mode: "dry_run" }),
        anEndedRun({ state: "cancelled" }),
        anEndedRun({ state: "skipped" }),
        aFailedRun({ id: "run-0", error: { code: "source_deadline", message: "slow" } }),
        anEndedRun(),
        aFailedRun(),
      ],
    });
    expect(findingOf("ingest_failing", facts)).toMatchObject({ verdict: "good", value: 2 });
  });

  it("says why the last run failed", () => {
    const facts = withIngest({ ended: list(3, () => aFailedRun()) });
    const { message, evidence } = findingOf("ingest_failing", facts);
    expect(message).toBe("3 runs in a row have failed, the last with store_fault: KV refused");
    expect(evidence).toMatchObject({ runs: [{ id: "run-1" }, {}, {}] });
  });
});

describe("ingest_stuck", () => {
  it("finds the oldest run that waits although nothing runs", () => {
    const queued = [
      { id: "run-2", queued_at: ago(10 * MINUTE_MS) },
      { id: "run-3", queued_at: ago(MINUTE_MS) },
    ];
    expect(findingOf("ingest_stuck", withIngest({ queued }))).toMatchObject({
      verdict: "bad",
      evidence: { run_id: "run-2" },
    });
    const running = { id: "run-1", stage: "fetch", heartbeat_at: ago(1) };
    expect(findingOf("ingest_stuck", withIngest({ queued, running }))).toMatchObject({
      verdict: "good",
      value: 1,
    });
  });

  it("ignores a run that waits for another job", () => {
    const queued = [{ id: "run-2", queued_at: ago(HOUR_MS) }];
    const verdictOf = (isJobUnderWay: boolean) =>
      findingOf("ingest_stuck", withIngest({ queued, isJobUnderWay })).verdict;
    expect([verdictOf(false), verdictOf(true)]).toEqual(["bad", "good"]);
  });

  it("counts the wait of a retried run from its due time", () => {
    const queued = [{ id: "run-2", queued_at: ago(HOUR_MS) }];
    const waitingSince = (nextDueAt: string) =>
      findingOf("ingest_stuck", withIngest({ queued, nextDueAt }));
    expect(waitingSince(ago(10 * MINUTE_MS))).toMatchObject({
      verdict: "bad",
      value: 10 * MINUTE_MS,
    });
    expect(waitingSince(ago(9 * MINUTE_MS))).toMatchObject({ verdict: "good" });
    expect(waitingSince(ago(-MINUTE_MS))).toMatchObject({
      verdict: "good",
      value: 0,
      message: "No run is held up.",
    });
  });
});

describe("source_broken", () => {
  const failedBy = (code: string) => aFailedRun({ error: { code, message: "airports.csv …" } });

  it.each([
    ["source_missing_columns", "bad"],
    ["source_http_refused", "bad"],
    ["source_too_large", "bad"],
    ["source_http_status", "good"],
    ["source_unreachable", "good"],
    ["source_deadline", "good"],
    ["store_fault", "good"],
    ["guard_shrink", "good"],
  ])("judges one run that failed by %s as %s", (code, verdict) => {
    const ended = [failedBy(code), anEndedRun()];
    expect(findingOf("source_broken", withIngest({ ended })).verdict).toBe(verdict);
    expect(findingOf("ingest_failing", withIngest({ ended })).verdict).toBe("good");
  });

  it("ends with the next run that ends otherwise", () => {
    const ended = [anEndedRun(), failedBy("source_empty")];
    expect(findingOf("source_broken", withIngest({ ended })).verdict).toBe("good");
  });
});

describe("guard_tripped", () => {
  const guards = [{ guard: "guard_shrink", message: "airports 9074 → 4120" }];

  it("stays bad while later runs fail otherwise and dry runs pass", () => {
    const ended = [
      aFailedRun(),
      anEndedRun({ mode: "dry_run" }),
      aFailedRun({ id: "held", guards }),
    ];
    expect(findingOf("guard_tripped", withIngest({ ended }))).toMatchObject({
      verdict: "bad",
      message: "Run held was refused: guard_shrink: airports 9074 → 4120",
      evidence: { run_id: "held", guards },
    });
  });

  it("ends once a run succeeds, even one forced past its guards", () => {
    const ended = [anEndedRun({ outcome: "published", guards }), aFailedRun({ guards })];
    expect(findingOf("guard_tripped", withIngest({ ended })).verdict).toBe("good");
  });
});

describe("queue_backlog", () => {
  it("lets runs wait while ingestion is paused", () => {
    const queued = list(9, (index) => ({ id: `run-${index}`, queued_at: ago(HOUR_MS) }));
    const pause = { at: ago(HOUR_MS), by: "ops", note: null };
    expect(findingOf("queue_backlog", withIngest({ queued, pause }), "ingest")).toMatchObject({
      verdict: "good",
      value: 0,
      message: "9 runs wait for resume.",
    });
  });
});

describe("integrity_mismatch", () => {
  const missing = { state: "missing", detail: "kv manifest is missing" } as const;

  it.each([
    ["is missing in one store", missing, "kv manifest is missing"],
    ["is corrupt", { state: "corrupt", detail: "not JSON" } as const, "kv manifest is corrupt"],
    [
      "is an older one",
      aManifestCopy({ generation: 6 }),
      "kv manifest shows generation 6 instead of 7",
    ],
  ])("is bad if the manifest %s", (_, kv, problem) => {
    const facts = someFacts({ catalog: { kv, r2: aManifestCopy() } });
    expect(findingOf("integrity_mismatch", facts)).toMatchObject({
      verdict: "bad",
      value: 1,
      evidence: { manifests: [problem] },
    });
  });

  it("is bad if both stores have lost what the coordinator has published", () => {
    const facts = someFacts({ catalog: { kv: missing, r2: missing } });
    expect(findingOf("integrity_mismatch", facts)).toMatchObject({ verdict: "bad", value: 2 });
  });

  it("is good if nothing was ever published", () => {
    const ingest = { ok: true, value: someIngestFacts({ current: null, ended: [] }) } as const;
    const facts = someFacts({ ingest, catalog: { kv: missing, r2: missing } });
    expect(findingOf("integrity_mismatch", facts).verdict).toBe("good");
  });

  it("waits while the stores are still receiving a version that was just published", () => {
    const facts = withIngest({
      current: { generation: 8, published_at: ago(MINUTE_MS) },
      replicated: false,
    });
    expect(findingOf("integrity_mismatch", facts).verdict).toBe("good");
  });
});

describe("the rules over backups", () => {
  it("count from the start of the monitor before the first backup", () => {
    const none = { newestFinishedAt: null, newestVerifiedAt: null };
    const since = (ms: number): Facts => {
      const facts = someFacts({ backups: { ok: true, value: none } });
      return { ...facts, monitor: { ...facts.monitor, since: NOW - ms } };
    };
    expect(findingOf("backup_stale", since(26 * HOUR_MS - 1)).verdict).toBe("good");
    expect(findingOf("backup_stale", since(26 * HOUR_MS))).toMatchObject({
      verdict: "bad",
      message: "There has been no backup, for 1 d 2 h.",
    });
    expect(findingOf("backup_unverified", since(26 * HOUR_MS)).verdict).toBe("good");
  });

  it("do not call a verified backup unverified, however old it is", () => {
    const at = ago(100 * HOUR_MS);
    const value = { newestFinishedAt: at, newestVerifiedAt: at };
    const facts = someFacts({ backups: { ok: true, value } });
    expect(findingOf("backup_unverified", facts).verdict).toBe("good");
    expect(findingOf("backup_stale", facts).verdict).toBe("bad");
  });
});

describe("coverage_drop", () => {
  it("ignores a locale that was removed or is new", () => {
    const facts = withManifest({ coverage: { en: 1, fr: 0.2 } });
    expect(findingOf("coverage_drop", facts)).toMatchObject({ verdict: "good", value: 0 });
  });

  it("names the locale that has lost the most", () => {
    const facts = withManifest({ coverage: { de: 0.8, en: 0.7 } });
    expect(findingOf("coverage_drop", facts)).toMatchObject({
      value: 30,
      message: "The locale en has lost 30 points of coverage.",
      evidence: { drops: [{ locale: "en" }, { locale: "de" }] },
    });
  });
});

describe("monitor_gap", () => {
  it("is good until the first tick has come", () => {
    const facts = withMonitor({ lastTickAt: null, since: NOW - 24 * HOUR_MS });
    expect(findingOf("monitor_gap", facts)).toMatchObject({
      verdict: "good",
      message: "No tick has come yet.",
    });
  });
});

describe("a fingerprint", () => {
  it("is the same for the same rule and labels in any order, and for no others", () => {
    const a = fingerprintOf("queue_backlog", { queue: "ingest", zone: "x" });
    expect(fingerprintOf("queue_backlog", { zone: "x", queue: "ingest" })).toBe(a);
    expect(a).toMatch(/^[0-9a-f]{16}$/);
    const all = evaluateRules(someFacts(), context).map(({ fingerprint }) => fingerprint);
    expect(new Set(all).size).toBe(all.length);
  });
});
