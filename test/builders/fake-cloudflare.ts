/**
 * A fake of Cloudflare's API over HTTP on this machine, with as much of it as the real wrangler asks
 * for while it deploys. It stores names, and runs nothing.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";

/** A binding as wrangler uploads it. */
export interface UploadedBinding {
  readonly name: string;
  readonly type: string;
  readonly text?: string;
}

export interface Upload {
  readonly bindings: readonly UploadedBinding[];
}

export interface FakeCloudflare {
  /** Base of its API. */
  readonly url: string;
  /** Names of what the account has. */
  readonly account: () => object;
  /** SQL that was sent to D1. */
  readonly statements: () => readonly string[];
  readonly uploads: () => readonly Upload[];
  /** Bodies of all requests, as text. */
  readonly requests: () => readonly string[];
  /** Gives the account its subdomain at workers.dev, or takes it away. */
  readonly register: (subdomain: string | undefined) => void;
  readonly stop: () => Promise<void>;
}

type Answer =
  | { readonly result: unknown }
  | { readonly status: number; readonly code: number; readonly message: string };

interface Asked {
  readonly body: string;
  readonly names: readonly string[];
}

const BASE = "/client/v4";
const ACCOUNT = { id: "acc-1", name: "Ada's account" };
const NO_WORKER = {
  status: 404,
  code: 10007,
  message: "This Worker does not exist on your account.",
};
const NO_SUBDOMAIN = {
  status: 404,
  code: 10007,
  message: "You do not have a workers.dev subdomain.",
};

export async function fakeCloudflare(): Promise<FakeCloudflare> {
  const namespaces: { id: string; title: string }[] = [];
  const databases: { uuid: string; name: string }[] = [];
  const buckets: string[] = [];
  const workers: string[] = [];
  const statements: string[] = [];
  const uploads: Upload[] = [];
  const requests: string[] = [];
  let crons: unknown[] = [];
  let isAtWorkersDev = false;
  let subdomain: string | undefined;

  const ofWorker = (name: string | undefined, result: unknown): Answer =>
    workers.some((worker) => worker === name) ? { result } : NO_WORKER;

  function upload(name: string, body: string): void {
    if (!workers.includes(name)) workers.push(name);
    const [, metadata = "{}"] = /name="metadata"[^]*?\r\n\r\n(\{.*\})\r\n/.exec(body) ?? [];
    uploads.push(JSON.parse(metadata));
  }

  const routes: { readonly [methodAndPath: string]: (asked: Asked) => Answer } = {
    "GET /user/tokens/verify": () => ({ result: { id: "t", status: "active" } }),
    "GET /user": () => ({ result: { id: "u", email: "ada@a.example" } }),
    "GET /accounts": () => ({ result: [ACCOUNT] }),
    "GET /memberships": () => ({ result: [{ id: "m", account: ACCOUNT, roles: [] }] }),
    "GET /storage/kv/namespaces": () => ({ result: namespaces }),
    "POST /storage/kv/namespaces": ({ body }) => {
      const { title } = JSON.parse(body);
      namespaces.push({ id: `${namespaces.length}`.padStart(32, "a"), title });
      return { result: namespaces.at(-1) };
    },
    "GET /d1/database": () => ({ result: databases }),
    "POST /d1/database": ({ body }) => {
      const { name } = JSON.parse(body);
      databases.push({ uuid: `11111111-1111-4111-8111-11111111111${databases.length}`, name });
      return { result: databases.at(-1) };
    },
    "POST /d1/database/:id/query": ({ body }) => {
      statements.push(JSON.parse(body).sql);
      return { result: [{ results: [], success: true, meta: { duration: 1 } }] };
    },
    "GET /r2/buckets/:name": ({ names: [name = ""] }) =>
      buckets.includes(name)
        ? { result: { name } }
        : { status: 404, code: 10006, message: "The specified bucket does not exist." },
    "GET /r2/buckets": () => ({ result: { buckets: buckets.map((name) => ({ name })) } }),
    "POST /r2/buckets": ({ body }) => {
      buckets.push(JSON.parse(body).name);
      return { result: {} };
    },
    "GET /workers/scripts/:name/secrets": ({ names: [name] }) =>
      ofWorker(name, [{ name: "ADMIN_TOKENS", type: "secret_text" }]),
    "GET /workers/services/:name": ({ names: [name] }) => {
      const script = { last_deployed_from: "wrangler", tag: "t", tags: [], migration_tag: "v1" };
      const environment = { environment: "production", script };
      return ofWorker(name, { id: name, default_environment: environment });
    },
    "GET /workers/scripts/:name/settings": ({ names: [name] }) => ofWorker(name, { bindings: [] }),
    "GET /workers/scripts": () => ({
      result: workers.map((id) => ({ id, migration_tag: "v1" })),
    }),
    "PUT /workers/scripts/:name": ({ names: [name = ""], body }) => {
      upload(name, body);
      const deployment = { deployment_id: "0".repeat(32), startup_time_ms: 9 };
      return { result: { id: name, etag: "e", ...deployment } };
    },
    "POST /workers/scripts/:name/versions": ({ names: [name = ""], body }) => {
      upload(name, body);
      const id = "22222222-2222-4222-8222-222222222222";
      return { result: { id, resources: { script: { etag: "e" } }, startup_time_ms: 9 } };
    },
    // It has every file already.
    "POST /assets-upload-session": () => ({ result: { jwt: "complete", buckets: [] } }),
    "GET /deployments": () => ({ result: { deployments: [] } }),
    "POST /deployments": () => ({ result: { id: "d" } }),
    "PATCH /script-settings": () => ({ result: {} }),
    "GET /workers/subdomain": () =>
      subdomain === undefined ? NO_SUBDOMAIN : { result: { subdomain } },
    "GET /workers/workers/:name": ({ names: [name] }) =>
      ofWorker(name, { name, subdomain: { enabled: isAtWorkersDev, previews_enabled: false } }),
    "POST /subdomain": ({ body }) => {
      isAtWorkersDev = JSON.parse(body).enabled;
      return { result: { enabled: isAtWorkersDev, previews_enabled: false } };
    },
    "PUT /schedules": ({ body }) => {
      crons = JSON.parse(body).map(({ cron }: { cron: string }) => cron);
      return { result: { schedules: [] } };
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await buffer(request)).toString("latin1");
    requests.push(body);
    const { pathname, searchParams } = new URL(request.url ?? "", "http://fake");
    const path = pathname.slice(BASE.length);
    // Wrangler asks for pages until one is empty.
    if (Number(searchParams.get("page") ?? 1) > 1) return send(response, { result: [] });
    for (const [route, answerTo] of Object.entries(routes)) {
      const names = matchEnd(`${request.method} ${path}`, route);
      if (names !== undefined) return send(response, answerTo({ body, names }));
    }
    const message = `the fake has no ${request.method} ${path}`;
    send(response, { status: 404, code: 1, message });
  }

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was assigned");
  return {
    url: `http://127.0.0.1:${address.port}${BASE}`,
    account: () => ({
      namespaces: namespaces.map(({ title }) => title),
      databases: databases.map(({ name }) => name),
      buckets,
      workers,
      crons,
      isAtWorkersDev,
    }),
    statements: () => statements,
    uploads: () => uploads,
    requests: () => requests,
    register: (name) => {
      subdomain = name;
    },
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** The names in a request whose path ends as a route does; undefined if it does not. */
function matchEnd(request: string, route: string): readonly string[] | undefined {
  const [method = "", path = ""] = route.split(" ");
  const pattern = `^${method} (?:/.*)?${path.replaceAll(/:\w+/g, "([^/]+)")}$`;
  return new RegExp(pattern).exec(request)?.slice(1);
}

function send(response: ServerResponse, answer: Answer): void {
  const isGood = "result" in answer;
  const envelope = {
    success: isGood,
    result: isGood ? answer.result : null,
    errors: isGood ? [] : [{ code: answer.code, message: answer.message }],
    messages: [],
    result_info: { page: 1, per_page: 1_000, total_pages: 1, count: 1, total_count: 1 },
  };
  response.writeHead(isGood ? 200 : answer.status, { "content-type": "application/json" });
  response.end(JSON.stringify(envelope));
}
