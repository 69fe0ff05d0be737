import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RUN_MODES } from "../../../../src/schemas/run-words.ts";
import {
  digest,
  EXPIRED_TOKEN,
  OPERATOR_TOKEN,
  READER_TOKEN,
} from "../../../builders/admin-tokens.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { anId } from "../../../builders/an-id.ts";
import { aBackupRequest } from "../../../builders/backup-world.ts";
import { ROUTE_PATHS } from "../../../builders/openapi-check.ts";
import { cutOff } from "../../../builders/source.ts";

/** Every route that changes something, and its action in the audit. */
const ACTIONS: { readonly [route: string]: string } = {
  "POST /admin/ingest/held/approve": "ingest.approve_held",
  "POST /admin/ingest/held/reject": "ingest.reject_held",
  "POST /admin/ingest/held/{id}/approve": "ingest.approve_held",
  "POST /admin/ingest/held/{id}/reject": "ingest.reject_held",
  "POST /admin/ingest/pause": "ingest.pause",
  "POST /admin/ingest/resume": "ingest.resume",
  "POST /admin/ingest/queue": "ingest.queue",
  "POST /admin/ingest/runs/{id}/cancel": "ingest.cancel",
  "POST /admin/catalog/rollback": "catalog.rollback",
  "POST /admin/catalog/take-over": "catalog.take_over",
  "POST /admin/alerts/run": "alerts.run",
  "POST /admin/alerts/test": "alerts.test",
  "POST /admin/backup/run": "backup.run",
  "POST /admin/backup/{id}/verify": "backup.verify",
  "POST /admin/backup/{id}/restore": "backup.restore",
  "POST /admin/backup/{id}/pin": "backup.pin",
  "POST /admin/backup/{id}/unpin": "backup.unpin",
  "DELETE /admin/backup/{id}": "backup.delete",
  "DELETE /admin/monitor/set-aside": "set_aside.forget",
};

interface TestedRoute {
  /** In capitals. */
  readonly method: string;
  /** As the OpenAPI document has it, such as `/admin/backup/{id}`. */
  readonly path: string;
  /** In the audit; undefined if the route only reads. */
  readonly action: string | undefined;
}

/** All routes of the OpenAPI document. */
const ROUTES = Object.entries(ROUTE_PATHS).flatMap(([path, item]) =>
  Object.keys(item).map((name): TestedRoute => {
    const method = name.toUpperCase();
    return { method, path, action: ACTIONS[`${method} ${path}`] };
  }),
);

const isAdmin = ({ path }: TestedRoute) => path.startsWith("/admin");
const isChange = ({ action }: TestedRoute) => action !== undefined;
const isPost = ({ method }: TestedRoute) => method === "POST";
const hasId = ({ path }: TestedRoute) => path.includes("{id}");

/** A path with a well-formed id. */
function pathOf({ path }: Pick<TestedRoute, "path">): string {
  return path.replace("{id}", path.includes("/held/") ? "1-0000000000000000" : anId(1));
}

/** Shared by all requests, because none of them changes anything. */
const world = new AdminWorld();
const { credentials } = world.credentials;
const expired = {
  id: "old",
  sha256: digest(EXPIRED_TOKEN),
  scopes: ["read" as const],
  expiresAt: 1,
};
world.credentials = {
  problem: null,
  credentials: { ...credentials, tokens: [...credentials.tokens, expired] },
};

/** Whatever a change would change. */
function state() {
  const tables = ["jobs", "single_values", "versions", "decisions"];
  return {
    coordinator: tables.map((table) =>
      world.ingest.tables.sql.exec(`SELECT * FROM ${table}`).toArray(),
    ),
    evaluation: world.monitor.monitor.status().lastRun,
    backups: [...world.backups.files.keys()],
  };
}

const UNCHANGED = state();

beforeEach(() => {
  world.audited.length = 0;
  world.failureLimit = 100;
  world.failures.length = 0;
  vi.spyOn(console, "log").mockImplementation(() => undefined);
});

afterEach(() => void vi.restoreAllMocks());

/** A refusal as its status and code, such as `404 run_not_found`. */
type Refusal = `${number} ${string}`;

interface Expected {
  readonly refusal: Refusal;
  /** A part of the problem's detail. */
  readonly detail?: string;
  /** Headers that tell the client what to do. */
  readonly headers?: { readonly [name: string]: string };
  /** Whom the log names; null if nothing is logged as an operator's request. */
  readonly actor?: string | null;
  /** What the audit names; undefined if the request is not audited. */
  readonly action?: string | undefined;
}

/** Expects a request to be refused without effect, and to be in the audit and in the log. */
async function expectRefused(answer: Promise<Response>, expected: Expected): Promise<void> {
  const { refusal, detail = "", headers = {}, actor = "ops", action } = expected;
  const [number, code] = refusal.split(" ");
  const status = Number(number);
  const problem = { status, code, detail: expect.stringContaining(detail) };
  const refused = await answer;
  expect(await refused.json()).toMatchObject(problem);
  expect(refused.status).toBe(status);
  expect(refused.headers.get("content-type")).toBe("application/problem+json");
  expect(Object.fromEntries(refused.headers)).toMatchObject(headers);
  expect(state()).toEqual(UNCHANGED);
  const isAudited = action !== undefined && actor !== null;
  const entry = { actor, action, outcome: "refused", ...problem };
  expect(world.audited).toMatchObject(isAudited ? [entry] : []);
  const lines = vi.mocked(console.log).mock.calls.map(([line]) => JSON.parse(String(line)));
  expect(lines.filter(({ event }) => event === "admin_request")).toMatchObject(
    actor === null ? [] : [{ actor, status, error_code: code }],
  );
}

/** A request that every route refuses to which it applies. */
interface Wrong extends Expected {
  readonly what: string;
  readonly to: (route: TestedRoute) => boolean;
  readonly query?: string;
  readonly sent?: { readonly [name: string]: string };
  readonly body?: () => BodyInit;
  /** Failed authentications that are allowed; unlimited by default. */
  readonly failures?: number;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const wrongToken = { to: isAdmin, sent: bearer("wrong"), actor: null };
const expiredToken = { to: isAdmin, sent: bearer(EXPIRED_TOKEN), actor: null };
const readerToken = { to: isChange, sent: bearer(READER_TOKEN), actor: "viewer" };
const grpc = { to: isAdmin, sent: { "content-type": "application/grpc+proto" }, actor: null };
const bodyOf = (text: string) => ({ to: isPost, body: () => text });
const media = (name: string, value: string) => ({ ...bodyOf("{}"), sent: { [name]: value } });

const WRONG: readonly Wrong[] = [
  {
    what: "a wrong token",
    refusal: "401 unauthenticated",
    ...wrongToken,
    headers: { "www-authenticate": 'Bearer realm="admin"' },
  },
  { what: "an expired token", refusal: "401 token_expired", ...expiredToken },
  {
    what: "one failure too many",
    refusal: "429 too_many_failures",
    ...wrongToken,
    failures: 0,
    headers: { "retry-after": "60" },
  },
  { what: "a token that may only read", refusal: "403 scope_missing", ...readerToken },
  {
    what: "another site's origin",
    refusal: "403 cross_site",
    to: isChange,
    sent: { origin: "https://evil.example" },
  },
  { what: "gRPC", refusal: "415 grpc_refused", ...grpc },
  {
    what: "an unknown parameter",
    refusal: "400 invalid_query",
    to: isAdmin,
    query: "?nonsense=1",
    detail: 'unknown parameter "nonsense"',
  },
  {
    what: "a repeated parameter",
    refusal: "400 duplicate_parameter",
    to: isAdmin,
    query: "?limit=1&limit=1",
    detail: '"limit" is given twice',
  },
  {
    what: "an unknown field",
    refusal: "400 invalid_body",
    ...bodyOf('{"nonsense":1}'),
    detail: 'unknown field "nonsense"',
  },
  {
    what: "a repeated field",
    refusal: "400 duplicate_field",
    ...bodyOf('{"note":"a","n\\u006fte":"b"}'),
    detail: '"note" is given twice',
  },
  { what: "malformed JSON", refusal: "400 malformed_json", ...bodyOf('{"note":"a",}') },
  { what: "a body that is cut off", refusal: "400 body_incomplete", to: isPost, body: cutOff },
  {
    what: "a body of 16 KiB and a byte",
    refusal: "413 body_too_large",
    ...bodyOf("{}".padEnd(16 * 1024 + 1)),
  },
  {
    what: "a body in plain text",
    refusal: "415 unsupported_media_type",
    ...media("content-type", "text/plain"),
    headers: { accept: "application/json" },
  },
  {
    what: "a compressed body",
    refusal: "415 unsupported_media_type",
    ...media("content-encoding", "gzip"),
    headers: { "accept-encoding": "identity" },
  },
];

describe.each(WRONG)("a request with $what", (wrong) => {
  const { query = "", sent = {}, body, failures = 100, actor = "ops", ...expected } = wrong;

  it.each(ROUTES.filter(wrong.to))(`gets ${wrong.refusal} at $method $path`, async (route) => {
    world.failureLimit = failures;
    const headers = { ...bearer(OPERATOR_TOKEN), "content-type": "application/json", ...sent };
    const init = { method: route.method, headers, duplex: "half", body: body?.() ?? null };
    const answer = world.send(`${pathOf(route)}${query}`, init);
    const { action } = route;
    await expectRefused(answer, { ...expected, action, actor: isAdmin(route) ? actor : null });
    for (const { request } of world.audited) expect(request).toBeNull();
  });
});

describe("a method that a path does not take", () => {
  const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"];

  it.each(Object.keys(ROUTE_PATHS))("gets 405 at %s", async (path) => {
    const own = ROUTES.filter((route) => route.path === path);
    const taken = own.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    // OPTIONS of a public path is a preflight.
    const allowed = path.startsWith("/admin") ? taken : [...taken, "OPTIONS"];
    for (const method of METHODS.filter((name) => !allowed.includes(name))) {
      const answer = await world.request(pathOf({ path }), { method });
      expect(answer.status, method).toBe(405);
      expect(answer.headers.get("allow")?.split(", ").toSorted()).toEqual(taken.toSorted());
      const text = await answer.text();
      expect(text).toContain(method === "HEAD" ? "" : '"code":"method_not_allowed"');
    }
    expect(world.audited).toEqual([]);
  });
});

describe("a malformed id", () => {
  const IDS = ["..", "..%2f..%2fcatalog", `${anId(1)}%00`, "a".repeat(1025), "%ff", "ABC"];

  it.each(ROUTES.filter(hasId))(
    "gets 404 at $method $path and reaches no store",
    async ({ method, path }) => {
      world.backups.calls.length = 0;
      for (const id of [...IDS, anId(1).toUpperCase()]) {
        const answer = await world.request(path.replace("{id}", id), { method });
        expect(answer.status, id).toBe(404);
        expect(await answer.json()).toMatchObject({ code: "not_found" });
      }
      expect(world.backups.calls).toEqual([]);
      expect(state()).toEqual(UNCHANGED);
    },
  );

  it.each([
    ["/admin/backup", "a backup", "/admin/backup/list"],
    ["/admin/backup-jobs", "a job", "/admin/backup-jobs"],
    ["/admin/alerts/runs", "an evaluation", "/admin/alerts/runs"],
    ["/admin/ingest/runs", "a run", "/admin/ingest/runs"],
  ])(
    "leads at %s/{id} to a message that says where the id of %s is from: %s",
    async (path, what, list) => {
      const detail = `The id in the path must be the UUIDv7 of ${what}, in lower case, from GET ${list}.`;
      expect(await (await world.request(`${path}/ABC`)).json()).toMatchObject({ detail });
    },
  );
});

/** What a route does not take, as a query or a body, and what the problem says about it. */
const INVALID: { readonly [route: string]: readonly (readonly [sent: string, detail: string])[] } =
  {
    "GET /admin/alerts/runs": [
      ["?state=inactive", "state: "],
      ["?cursor=x", "cursor: must be the next_cursor"],
    ],
    "GET /admin/audit": [["?cursor=abc", "cursor: must be the next_cursor"]],
    "GET /admin/backup-jobs": [["?cursor=x", "cursor: must be the next_cursor"]],
    "GET /admin/backup/list": [["?cursor=..%2f", "cursor: must be the next_cursor"]],
    "GET /admin/ingest/held": [["?cursor=x", "cursor: must be the next_cursor"]],
    "GET /admin/ingest/runs": [
      ["?until=2026-11-01", "until: must be a time"],
      ["?until=9999-12-31T23:59:59-23:59", "until: must be within the years"],
      ["?limit=0", "limit: must be at least 1"],
      ["?limit=x", "limit: must be a number"],
      ["?cursor=x", "cursor: must be the next_cursor"],
      ["?__proto__=1", 'unknown parameter "__proto__"'],
    ],
    "GET /admin/catalog/versions": [["?cursor=x", 'unknown parameter "cursor"']],
    "GET /catalog/diff": [
      ["", "from: this parameter is missing"],
      ["?from=x", "from: must be a generation or a SHA-256"],
      ["?from=1&locale=.", "locale: must be a BCP 47 tag"],
    ],
    "GET /catalog/names": [
      ["", "v: this parameter is missing"],
      ["?v=1", "v: must be a SHA-256"],
      [`?v=${"0".repeat(64)}&locale=.`, "locale: must be a BCP 47 tag"],
    ],
    "POST /admin/catalog/rollback": [
      ["{}", "generation: this field is missing"],
      ['{"generation":1.5}', "generation: must be a whole number"],
      ['{"generation":0}', "generation: must be at least 1"],
    ],
    "POST /admin/ingest/held/approve": [
      ['{"note":"all"}', "name the changes by run_id, rule or both"],
    ],
    "POST /admin/ingest/pause": [
      ['{"until":"2026-11-20T12:00:00Z"}', "until: must be in the future"],
      ['{"until":"tomorrow"}', "until: must be a time"],
      ['{"until":"2099-12-31T23:59:59Z"}', "until: must be at most 366 days in the future"],
    ],
    "POST /admin/ingest/queue": [
      ['{"mode":"full","forced":true}', 'unknown field "forced"'],
      ['{"force":"yes"}', "force: must be true or false"],
      ['{"mode":null}', 'mode: must be one of "incremental", "full", "dry_run"'],
      ['{"candidate_of":"the last"}', "candidate_of: must be the UUIDv7 of a run"],
      ['{"as_of":"2026-02-10"}', "as_of: only new files of the source dropped"],
      ['{"note":1}', "note: must be text"],
      [JSON.stringify({ note: "x".repeat(501) }), "note: must have at most 500 characters"],
      ['{"__proto__":{"mode":"full"}}', 'unknown field "__proto__"'],
      ["[".repeat(8000) + "]".repeat(8000), "must be an object"],
    ],
  };

describe.each(Object.entries(INVALID))("%s", (route, rows) => {
  const [method = "", path = ""] = route.split(" ");

  it.each(rows.map(([sent, detail]) => [detail, sent]))(
    "answers 400 and says: %s",
    async (detail, sent) => {
      const isBody = method === "POST";
      const answer = isBody ? world.post(path, sent) : world.request(`${path}${sent}`);
      const refusal = isBody ? "400 invalid_body" : "400 invalid_query";
      const actor = path.startsWith("/admin") ? "ops" : null;
      await expectRefused(answer, { refusal, detail, actor, action: ACTIONS[route] });
    },
  );
});

describe("a public route", () => {
  const PUBLIC = ROUTES.filter((route) => !isAdmin(route));

  it.each(PUBLIC)("ignores parameters that it does not know: $path", async ({ path }) => {
    const query = {
      "/catalog/diff": "from=1",
      "/catalog/names": `v=${"0".repeat(64)}`,
      "/search/v1/suggest": "q=a",
    }[path];
    const known = `${path}?${query ?? ""}`;
    const plain = await world.send(known);
    const busted = await world.send(`${known}&_=1&_=2&toString=3&__proto__=4`);
    expect(busted.status).toBe(plain.status);
    expect(await busted.text()).not.toContain("invalid_query");
  });

  it("refuses a known parameter that is given twice", async () => {
    const answer = world.send("/catalog/diff?from=1&from=2");
    await expectRefused(answer, { refusal: "400 duplicate_parameter", actor: null });
  });
});

describe("an id that nothing has", () => {
  const REFUSALS: { readonly [route: string]: Refusal } = {
    "GET /admin/alerts/runs/{id}": "404 run_not_found",
    "GET /admin/backup/{id}": "404 backup_not_found",
    "GET /admin/backup-jobs/{id}": "404 job_not_found",
    "GET /admin/ingest/runs/{id}": "404 run_not_found",
    "POST /admin/backup/{id}/pin": "404 backup_not_found",
    "POST /admin/backup/{id}/restore": "404 backup_not_found",
    "POST /admin/backup/{id}/unpin": "404 backup_not_found",
    "POST /admin/backup/{id}/verify": "404 backup_not_found",
    "POST /admin/ingest/held/{id}/approve": "404 held_not_found",
    "POST /admin/ingest/held/{id}/reject": "404 held_not_found",
    "POST /admin/ingest/runs/{id}/cancel": "404 run_not_found",
  };

  // To delete a backup that does not exist changes nothing, and is no mistake.
  it.each(ROUTES.filter((route) => hasId(route) && route.method !== "DELETE"))(
    "gets 404 at $method $path",
    async ({ method, path, action }) => {
      const refusal = REFUSALS[`${method} ${path}`] ?? "404 none";
      await expectRefused(world.request(pathOf({ path }), { method }), { refusal, action });
    },
  );

  it("gets 404 at POST /admin/catalog/rollback, which takes a generation in the body", async () => {
    const answer = world.post("/admin/catalog/rollback", { generation: 4 });
    const refusal = "404 generation_not_retained";
    await expectRefused(answer, { refusal, action: "catalog.rollback" });
    expect(world.audited).toMatchObject([{ target: "4" }]);
  });
});

describe("a path without a route", () => {
  it.each(["/admin/ingest", "/admin/ingest/pause/", "/admin/ingest/queue/x", "/admin//ingest"])(
    "gets 404: %s",
    async (path) => {
      await expectRefused(world.request(path), { refusal: "404 not_found", actor: null });
    },
  );
});

describe("POST /admin/ingest/queue", () => {
  const JSON_TYPE = "application/json";
  const bytes = Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d);
  const planes = JSON.stringify({ note: "🛫".repeat(4096) });

  it.each<[string, Refusal, BodyInit, string]>([
    ["without a media type", "415 unsupported_media_type", "{}", ""],
    [
      "of a type that only has the prefix of JSON's",
      "415 unsupported_media_type",
      "{}",
      "application/jsonp",
    ],
    ["in UTF-16", "415 unsupported_media_type", "{}", "application/json; charset=utf-16"],
    [
      "in an unknown charset",
      "415 unsupported_media_type",
      "{}",
      'application/json; a=b; charset="utf-8x"',
    ],
    ...[
      "=latin1",
      "= latin1",
      " =\tutf-16",
      "=",
      '="utf-8',
      "=utf-8=",
      "=utf-8;charset=utf-16",
    ].map((charset): [string, Refusal, BodyInit, string] => [
      `with charset${charset}`,
      "415 unsupported_media_type",
      "{}",
      `application/json; charset${charset}`,
    ]),
    ["without its end", "400 malformed_json", "{", JSON_TYPE],
    ["of malformed UTF-8", "400 malformed_json", bytes, JSON_TYPE],
    ["with few characters in too many bytes", "413 body_too_large", planes, JSON_TYPE],
  ])("refuses a body %s with %s", async (_, refusal, body, type) => {
    const init = { method: "POST", body, headers: { "content-type": type } };
    const answer = world.request("/admin/ingest/queue", init);
    await expectRefused(answer, { refusal, action: "ingest.queue" });
  });
});

describe("a request for a job while too many wait", () => {
  it("gets 429 at POST /admin/ingest/queue", async () => {
    const busy = new AdminWorld();
    for (const mode of RUN_MODES)
      for (const source of ["embedded", "ourairports", "dropped", "other"])
        if (busy.ingest.coordinator.status().queued.length < 10)
          await busy.ingest.enqueue({ mode, source, forced: true });
    const answer = await busy.post("/admin/ingest/queue");
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toBe("60");
    const detail = expect.stringContaining("10 runs wait already");
    expect(await answer.json()).toMatchObject({ code: "queue_full", detail });
  });

  it("gets 429 at POST /admin/backup/run", async () => {
    const busy = new AdminWorld();
    for (let jobs = 0; jobs < 20; jobs++)
      await busy.installation.jobs.backUp(aBackupRequest({ note: `job ${jobs}` }));
    const answer = await busy.post("/admin/backup/run", { note: "one more" });
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toBe("30");
    expect(await answer.json()).toMatchObject({ code: "queue_full" });
  });
});

it("the table of actions has every route that changes something", () => {
  const changes = ROUTES.filter(({ method }) => method !== "GET");
  const names = changes.map(({ method, path }) => `${method} ${path}`);
  expect(names.toSorted()).toEqual(Object.keys(ACTIONS).toSorted());
});
