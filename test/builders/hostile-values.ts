/**
 * Values as they come in from outside: the least and the greatest that are accepted, those just beyond
 * and far beyond, and nonsense. The tests of new starts try each, the chaos run draws from them.
 */
import { SOURCE_NAMES } from "../../src/schemas/run-words.ts";

const DAY_MS = 86_400_000;

/** Values that no field expects. */
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
  const offsets = [-1, 0, 1, DAY_MS, 366 * DAY_MS, 366 * DAY_MS + 1, 400 * DAY_MS, 7_300 * DAY_MS];
  return [...offsets.map((ms) => new Date(now + ms).toISOString()), ...MOMENTS];
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
  "get /admin/catalog/versions": { "query limit": PAGE["query limit"] },
  "post /admin/catalog/rollback": {
    ...NOTE,
    "body generation": "generation",
    "body expected_generation": "generation",
  },
  "post /admin/catalog/take-over": NOTE,
  "get /catalog/diff": { "query from": "version", "query locale": "locale" },
  "get /catalog/names": { "query v": "version", "query locale": "locale" },
  "get /search/v1/suggest": {
    "query q": "note",
    "query locale": "locale",
    "query limit": PAGE["query limit"],
  },
  "get /admin/catalog/comparison": { "query from": "version", "query to": "version" },
  "post /admin/backup/run": { ...KEY, ...NOTE, "body pin": "flag" },
  "get /admin/backup/list": PAGE,
  "get /admin/backup-jobs": PAGE,
  "get /admin/backup-jobs/{id}": ID,
  "get /admin/backup/{id}": ID,
  "delete /admin/backup/{id}": { ...ID, "query note": "note" },
  "post /admin/backup/{id}/verify": { ...ID, ...KEY, ...NOTE },
  "post /admin/backup/{id}/restore": { ...ID, ...KEY, ...NOTE },
  "post /admin/backup/{id}/pin": { ...ID, ...NOTE },
  "post /admin/backup/{id}/unpin": { ...ID, ...NOTE },
  "get /admin/alerts": { "query state": "word" },
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
  "post /admin/alerts/test": NOTE,
  "get /admin/audit": {
    ...SPAN,
    ...PAGE,
    "query actor": "person",
    "query action": "actionName",
    "query target": "auditTarget",
    "query outcome": "word",
    "query iata": "iata",
  },
  "get /admin/monitor/status": {},
  "get /admin/monitor/set-aside": {},
  "delete /admin/monitor/set-aside": { "query note": "note" },
  "get /dashboard/summary": {},
  "get /catalog/health": {},
  "get /credits": {},
  "get /admin/whoami": {},
};

/** Values of a setting. */
interface SettingValues {
  readonly valid: readonly string[];
  /** Nonsense, and just and far beyond what is possible. */
  readonly wrong: readonly string[];
}

/** Whole numbers as settings have them: from `min` to `max`, and beyond. */
function settingNumbers(min: number, max: number): SettingValues {
  const beyond = [min - 1, max + 1, -1, 2 ** 53, 1e21].map(String);
  const nonsense = ["", " ", "14d", "1e3", "0x10", "٣", "NaN", "Infinity", " 5", "9".repeat(20)];
  return { valid: [String(min), String(max)], wrong: [...nonsense, ...beyond] };
}

const MINUTE_MS = 60_000;

const json = (...list: readonly unknown[]) => JSON.stringify(list);
const WEBHOOK = { name: "ops", kind: "webhook", url: "http://127.0.0.1:9/" };
const ALERTMANAGER_URL = "http://127.0.0.1:9/prefix/api/v2/alerts";
const webhooks = (count: number) =>
  json(...Array.from({ length: count }, (_, at) => ({ ...WEBHOOK, name: `ops-${at}` })));
const TOKEN = { id: "ada", sha256: "0".repeat(64), scopes: ["read"] };
const endingOn = (date: string) => json({ ...TOKEN, expires_at: `${date}T00:00:00Z` });
const ODD_SETTINGS = [
  "",
  " ",
  "\u0000",
  "null",
  "{}",
  "x".repeat(100_000),
  "🛫",
  "a,b,,c",
  "__proto__",
];
const URLS = "https://a.example/a.csv,https://a.example/r.csv";

/**
 * Values of each setting and secret: of the Worker, of the alerts, and of who may call it. Those that are
 * valid are so together, if each is the last of its setting.
 */
export const SETTING_VALUES: { readonly [setting: string]: SettingValues } = {
  DEFAULT_LOCALE: {
    valid: ["de", "en"],
    wrong: [...ODD_SETTINGS, "tlh", "not a locale", "en,de", "EN"],
  },
  CACHE_MAX_BYTES: settingNumbers(0, 72 * 1024 * 1024),
  MANIFEST_FRESH_MS: settingNumbers(0, 60 * MINUTE_MS),
  LOCALES: {
    valid: ["all", "en", "en,en", "de, en"],
    wrong: [...ODD_SETTINGS, "tlh", "en;de", "de", "en,tlh", "en,".repeat(10_000)],
  },
  AIRPORTS: { valid: ["all", "scheduled"], wrong: [...ODD_SETTINGS, "large", "ALL"] },
  SOURCE: {
    valid: SOURCE_NAMES,
    wrong: [...ODD_SETTINGS, "openflights"],
  },
  SOURCE_URLS: {
    valid: [URLS],
    wrong: [
      ...ODD_SETTINGS,
      "https://a.example/a.csv",
      URLS.replace("https:", "ftp:"),
      URLS.replace("//", "//u:p@"),
      `https://a.example/${"x".repeat(100_000)}`,
    ],
  },
  SOURCE_ALLOWED_HOSTS: { valid: [...ODD_SETTINGS, "*", "cdn.example, b.example:8443"], wrong: [] },
  SOURCE_MAX_BYTES: settingNumbers(1024 * 1024, 32 * 1024 * 1024),
  COMPRESSION: { valid: ["fast", "best"], wrong: [...ODD_SETTINGS, "11"] },
  SURPRISE_HOLD_MS: settingNumbers(0, 30 * DAY_MS),
  SURPRISE_UNLISTED_PERCENT: settingNumbers(1, 100),
  ALERT_CATALOG_STALE_MS: settingNumbers(1_000, 90 * DAY_MS),
  ALERT_DATA_OLD_MS: settingNumbers(DAY_MS, 3_650 * DAY_MS),
  ALERT_INGEST_FAILING_RUNS: settingNumbers(1, 20),
  ALERT_INGEST_STUCK_MS: settingNumbers(MINUTE_MS, DAY_MS),
  ALERT_INGEST_PAUSED_MS: settingNumbers(MINUTE_MS, 90 * DAY_MS),
  ALERT_CHANGES_HELD_MS: settingNumbers(MINUTE_MS, 90 * DAY_MS),
  ALERT_BACKUP_STALE_MS: settingNumbers(MINUTE_MS, 90 * DAY_MS),
  ALERT_BACKUP_UNVERIFIED_MS: settingNumbers(MINUTE_MS, 90 * DAY_MS),
  ALERT_REPEAT_MS: settingNumbers(MINUTE_MS, 7 * DAY_MS),
  ALERT_WEBHOOKS: {
    valid: [
      "[]",
      webhooks(10),
      json({ ...WEBHOOK, name: "o".repeat(40) }),
      json({ ...WEBHOOK, url: `${WEBHOOK.url}${"x".repeat(10_000)}` }),
      json({ ...WEBHOOK, kind: "alertmanager", url: ALERTMANAGER_URL }),
      json(WEBHOOK),
    ],
    wrong: [
      ...ODD_SETTINGS,
      "https://a.example",
      webhooks(11),
      json({ ...WEBHOOK, name: "o".repeat(41) }),
      json({ ...WEBHOOK, kind: "pager" }),
      json({ ...WEBHOOK, kind: "alertmanager" }),
      json({ ...WEBHOOK, kind: "alertmanager", url: `${ALERTMANAGER_URL}/` }),
      json({ ...WEBHOOK, secret: "whsec_" }),
      json(WEBHOOK, WEBHOOK),
    ],
  },
  ALERT_PING_URL: {
    valid: ["https://a.example/ping", "http://[::1]:1/x", "http://127.0.0.1:9/"],
    wrong: [...ODD_SETTINGS, "http://a.example/", "ftp://a.example", "https://u:p@a.example/"],
  },
  SERVICE_URL: {
    valid: ["https://a.example", "http://127.0.0.1:8787/"],
    wrong: [...ODD_SETTINGS, "a.example", "http://a.example/", "https://u:p@a.example/"],
  },
  ADMIN_TOKENS: {
    valid: [
      "[]",
      json({ ...TOKEN, id: "x".repeat(320) }),
      ...["0000-01-01", "1970-01-01", "2026-11-22", "9999-12-31"].map(endingOn),
      json(...Array.from({ length: 1_000 }, () => TOKEN)),
      json(TOKEN),
    ],
    wrong: [
      ...ODD_SETTINGS,
      "secret",
      json({ ...TOKEN, id: "x".repeat(321) }),
      json({ ...TOKEN, id: "" }),
      json({ ...TOKEN, scopes: [] }),
      json({ ...TOKEN, sha256: "secret" }),
      json(TOKEN, null),
      endingOn("2026-13-01"),
    ],
  },
  ACCESS_TEAM_DOMAIN: {
    valid: [""],
    wrong: [...ODD_SETTINGS.slice(1), "https://team", "-", "team.cloudflareaccess.com"],
  },
  ACCESS_AUD: { valid: [""], wrong: [...ODD_SETTINGS.slice(1), "aud"] },
  ACCESS_OPERATORS: { valid: [...ODD_SETTINGS, "ada@a.example"], wrong: [] },
};

const HTTP_DATES = [
  "Thu, 01 Jan 1970 00:00:00 GMT",
  "Sun, 01 Nov 2026 06:00:00 GMT",
  "Fri, 31 Dec 9999 23:59:59 GMT",
  "Wed, 31 Dec 1969 23:59:59 GMT",
  "Mon, 01 Jan 0001 00:00:00 GMT",
  "-000001-01-01T00:00:00Z",
  "-271821-04-20T00:00:00Z",
  "+275760-09-13T00:00:00Z",
  "+275760-09-14T00:00:00Z",
];
const ODD_HEADERS = ["", "-1", "é", "x".repeat(8_000), "__proto__", "a, b", "\t"];

/** Values of each header of upstream that is kept or followed. */
export const HEADER_VALUES: { readonly [header: string]: readonly string[] } = {
  "retry-after": [
    "0",
    "1",
    "3600",
    "3601",
    "21600",
    "99999999999",
    "9".repeat(400),
    "1e9",
    "1.5",
    ...HTTP_DATES,
    ...ODD_HEADERS,
  ],
  "last-modified": [...HTTP_DATES, ...ODD_HEADERS],
  etag: ['"a"', 'W/"a"', '""', '"', `"${"x".repeat(8_000)}"`, ...ODD_HEADERS],
};

/** Dates of dropped files in their metadata. */
export const METADATA_DATES: readonly string[] = [
  "1970-01-01",
  "2026-11-20",
  "1969-12-31",
  "0000-01-01",
  "2026-11-21",
  "9999-12-31",
  "+275760-09-13",
  "-000001-01-01",
  "2026-02-30",
  "yesterday",
  ...ODD_HEADERS,
];

/** Ids of backups: names of folders, as somebody copies them into the bucket. */
export const BACKUP_IDS: readonly string[] = [
  "00000000-0000-7000-8000-000000000000",
  "0199aa3c-0000-7000-8000-000000000001",
  "ffffffff-ffff-7fff-bfff-ffffffffffff",
  "FFFFFFFF-FFFF-7FFF-BFFF-FFFFFFFFFFFF",
  "objects",
  "..",
  " ",
  "x".repeat(900),
  "ü",
];

/** Values of the fields of a backup's manifest. */
export const BACKUP_MANIFEST_VALUES: { readonly [field: string]: readonly unknown[] } = {
  format: numbers(1, 1),
  id: IDS,
  trigger: ["manual", "cron", "restore", ...WORDS],
  note: texts(500),
  started_at: MOMENTS,
  finished_at: [...MOMENTS, "0000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"],
  worker_version: texts(100),
  built_by: texts(100),
  catalog: [
    null,
    { generation: 1, catalog_sha256: "0".repeat(64) },
    { generation: Number.MAX_SAFE_INTEGER, catalog_sha256: "0".repeat(64) },
    { generation: 1e308, catalog_sha256: "0".repeat(64) },
    ...NONSENSE,
  ],
  tables: [
    {},
    { audit: { columns: [], rows: 0 } },
    { "x'": { columns: ["'"], rows: 1 } },
    ...NONSENSE,
  ],
  parts: [[], [{ name: "../x", bytes: 1, sha256: "0".repeat(64) }], ...NONSENSE],
  objects: [
    [],
    [{ sha256: "0".repeat(64), bytes: 0 }],
    [{ sha256: "0".repeat(64), bytes: Number.MAX_SAFE_INTEGER }],
    [{ sha256: "..", bytes: 1 }],
    ...NONSENSE,
  ],
  missing: [[], ["0".repeat(64)], ["x"], ...NONSENSE],
};

/** Cron triggers, and the scheduled times of their ticks in milliseconds since 1970. */
export const CRON_VALUES: readonly string[] = [
  "* * * * *",
  "17 4 * *",
  "constructor",
  ...ODD_TEXTS,
];
export const TICK_TIMES: readonly number[] = [
  0,
  1,
  Date.parse("2026-11-20T12:00:00.000Z"),
  Date.parse("9999-12-31T23:59:59.999Z"),
  -1,
  Date.parse("9999-12-31T23:59:59.999Z") + 1,
  8.64e15,
  8.64e15 + 1,
  1.5,
  1e308,
  Infinity,
  Number.NaN,
];
