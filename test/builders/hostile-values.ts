/**
 * Values as they come in from outside: the least and the greatest that are accepted, those just beyond
 * and far beyond, and nonsense. The tests of new starts try each, the chaos run draws from them.
 */

const DAY_MS = 86_400_000;

/** Nothing of what is expected, whatever that is. */
const NONSENSE: readonly unknown[] = [
  {},
  [],
  [null],
  -0,
  1e308,
  true,
  null,
  "",
  "\u0000",
  "__proto__",
];

/** Texts that break what parses, stores or prints them. */
const ODD_TEXTS = [
  "",
  " ",
  "\u0000",
  "\ud800",
  "a\r\nb: c",
  "\u202e\ufeff",
  "'; DROP TABLE ingest_runs; --",
  "__proto__",
  "constructor",
  "<script>alert(1)</script>",
  "%00%",
  "🛫".repeat(20),
];

/** Texts of at most so many characters, and beyond. */
function texts(most: number): readonly unknown[] {
  const longer = [most + 1, most * 10 + 1].map((length) => "x".repeat(length));
  return ["x", "x".repeat(most), "\u0000".repeat(most), ...longer, ...ODD_TEXTS, ...NONSENSE];
}

/** Whole numbers from `min` to `max`, and beyond. */
function numbers(min: number, max: number): readonly unknown[] {
  const beyond = [min - 1, max + 1, -1, 2 ** 31, 2 ** 53, 1e21, 1e308, Number.MAX_SAFE_INTEGER];
  return [min, max, ...beyond, 1.5, String(min), "1e3", "0x10", "٣", "-", " 1", ...NONSENSE];
}

/** Times of RFC 3339, from the year 0 on, and what only looks like one. */
const MOMENTS: readonly unknown[] = [
  "1970-01-01T00:00:00Z",
  "1970-01-01T00:00:00+23:59",
  "2099-12-31T23:59:59.999Z",
  "2099-12-31T23:59:59-23:59",
  "1969-12-31T23:59:59Z",
  "2100-01-01T00:00:00Z",
  "2189-01-01T00:00:00Z",
  "9999-12-31T23:59:59Z",
  "9999-12-31T23:59:59-23:59",
  "0000-01-01T00:00:00+23:59",
  "2026-02-30T00:00:00Z",
  "2026-11-21T24:00:00Z",
  "2026-11-21T06:00:00",
  "2026-11-21",
  "+275760-09-13T00:00:00Z",
  "tomorrow",
  "0",
  8.64e15,
  ...NONSENSE,
];

/** Ends of a pause: a moment, or a second to a year and beyond from now. */
function pauseEnds(now: number): readonly unknown[] {
  const ahead = [-1, 0, 1, DAY_MS, 366 * DAY_MS, 366 * DAY_MS + 1, 400 * DAY_MS, 7_300 * DAY_MS];
  return [...ahead.map((ms) => new Date(now + ms).toISOString()), ...MOMENTS];
}

const DATES: readonly unknown[] = [
  "1970-01-01",
  "2026-11-21",
  "2099-12-31",
  "0000-01-01",
  "9999-12-31",
  "2100-01-01",
  "1969-12-31",
  "2026-02-30",
  "21.11.2026",
  ...NONSENSE,
];

const IDS: readonly unknown[] = [
  "00000000-0000-7000-8000-000000000000",
  "ffffffff-ffff-7fff-bfff-ffffffffffff",
  "FFFFFFFF-FFFF-7FFF-BFFF-FFFFFFFFFFFF",
  "ffffffff-ffff-4fff-bfff-ffffffffffff",
  "01a20a79-4132-77d5-9569-3b8f9a4ee0f",
  "x".repeat(10_000),
  "..",
  "%2e%2e%2f",
  ...ODD_TEXTS,
];

const HELD_IDS: readonly unknown[] = [
  "1-0000000000000000",
  `${"9".repeat(2_000)}-ffffffffffffffff`,
  "CH-ZH-0000000000000000",
  "1-000000000000000",
  "-0000000000000000",
  ...IDS,
];

const WORDS: readonly unknown[] = [
  "no such word",
  "FULL",
  "toString",
  "x".repeat(10_000),
  ...NONSENSE,
];

/** The values of each kind of field. Those that words may have are in the OpenAPI document. */
const KINDS = {
  note: () => texts(500),
  person: () => texts(320),
  actionName: () => texts(100),
  auditTarget: () => texts(128),
  webhook: () => texts(40),
  cursor: () => texts(200),
  locale: () => ["en", "zh-Hant-TW", "x".repeat(36), "x".repeat(10_000), "i-klingon", ...ODD_TEXTS],
  key: () => ["!", "k".repeat(128), "k".repeat(129), "k".repeat(8_000), '"quoted"', "a b", "é"],
  moment: () => MOMENTS,
  pauseEnd: (now: number) => pauseEnds(now),
  date: () => DATES,
  generation: () => numbers(1, 999_999_999),
  limit: () => numbers(1, 200),
  version: () => [...numbers(1, 999_999_999), "0".repeat(64), "f".repeat(65), ...IDS],
  id: () => IDS,
  heldId: () => HELD_IDS,
  iata: () => ["AAA", "ZZZ", "zrh", "ZÜR", "AAAA", ...texts(3)],
  flag: () => [true, false, "true", "false", 0, 1, ...NONSENSE],
  word: () => WORDS,
} as const satisfies { readonly [kind: string]: (now: number) => readonly unknown[] };

export type HostileKind = keyof typeof KINDS;

/** @param now milliseconds since 1970. */
export function hostileValues(kind: HostileKind, now: number): readonly unknown[] {
  return KINDS[kind](now);
}

const ID = { "path id": "id" } as const;
const PAGE = { "query limit": "limit", "query cursor": "cursor" } as const;
const SPAN = { "query since": "moment", "query until": "moment" } as const;
const KEY = { "header Idempotency-Key": "key" } as const;
const NOTE = { "body note": "note" } as const;
const HELD = { "body run_id": "id", "body rule": "word", ...NOTE } as const;

/** The kind of each field of each route of the OpenAPI document. */
export const ROUTE_FIELDS: {
  readonly [route: string]: { readonly [field: string]: HostileKind };
} = {
  "get /admin/ingest/pause": {},
  "post /admin/ingest/pause": { ...NOTE, "body until": "pauseEnd", "body cancel_running": "flag" },
  "post /admin/ingest/resume": { ...KEY, ...NOTE, "body run_now": "flag" },
  "get /admin/ingest/queue": {},
  "post /admin/ingest/queue": {
    ...KEY,
    ...NOTE,
    "body source": "word",
    "body mode": "word",
    "body force": "flag",
    "body as_of": "date",
    "body candidate_of": "id",
    "body if_paused": "word",
  },
  "get /admin/ingest/runs": {
    ...SPAN,
    ...PAGE,
    "query state": "word",
    "query outcome": "word",
    "query trigger": "word",
    "query mode": "word",
    "query source": "word",
    "query requested_by": "person",
  },
  "get /admin/ingest/runs/{id}": ID,
  "post /admin/ingest/runs/{id}/cancel": { ...ID, ...NOTE },
  "get /admin/ingest/held": {
    ...PAGE,
    "query state": "word",
    "query rule": "word",
    "query iata": "iata",
    "query run_id": "id",
  },
  "post /admin/ingest/held/{id}/approve": { "path id": "heldId", ...NOTE },
  "post /admin/ingest/held/{id}/reject": { "path id": "heldId", ...NOTE },
  "post /admin/ingest/held/approve": HELD,
  "post /admin/ingest/held/reject": HELD,
  "get /admin/catalog/versions": PAGE,
  "post /admin/catalog/rollback": {
    ...NOTE,
    "body generation": "generation",
    "body expected_generation": "generation",
  },
  "post /admin/catalog/take-over": NOTE,
  "get /catalog/diff": { "query from": "version", "query locale": "locale" },
  "get /admin/catalog/comparison": { "query from": "version", "query to": "version" },
  "post /admin/backup/run": { ...KEY, ...NOTE, "body pin": "flag" },
  "get /admin/backup/list": { ...PAGE, "query state": "word" },
  "get /admin/backup/jobs": { ...PAGE, "query kind": "word", "query state": "word" },
  "get /admin/backup/jobs/{id}": ID,
  "get /admin/backup/{id}": ID,
  "delete /admin/backup/{id}": { ...ID, "query note": "note" },
  "post /admin/backup/{id}/verify": { ...ID, ...KEY, ...NOTE },
  "post /admin/backup/{id}/restore": { ...ID, ...KEY, ...NOTE },
  "post /admin/backup/{id}/pin": { ...ID, ...NOTE },
  "post /admin/backup/{id}/unpin": { ...ID, ...NOTE },
  "get /admin/alerts": { "query state": "word", "query rule": "word", "query severity": "word" },
  "get /admin/alerts/runs": {
    ...SPAN,
    ...PAGE,
    "query state": "word",
    "query worst": "word",
    "query rule": "word",
    "query changed": "word",
  },
  "get /admin/alerts/runs/{id}": ID,
  "post /admin/alerts/run": NOTE,
  "post /admin/alerts/test": { ...NOTE, "body target": "webhook" },
  "get /admin/audit": {
    ...SPAN,
    ...PAGE,
    "query actor": "person",
    "query action": "actionName",
    "query target": "auditTarget",
    "query outcome": "word",
  },
  "get /admin/monitor/status": {},
  "get /dashboard/summary": {},
  "get /catalog/health": {},
  "get /credits": {},
  "get /admin/whoami": {},
};
