/**
 * A fake of Cloudflare's API over HTTP on this machine, with as much of it as the real wrangler asks
 * for while it deploys. It refuses what Cloudflare refuses, and keeps what was uploaded.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";

/** A binding as wrangler uploads it. */
export interface Binding {
  readonly name: string;
  readonly type: string;
  readonly text?: string;
  readonly namespace_id?: string;
  readonly bucket_name?: string;
  readonly id?: string;
  readonly class_name?: string;
  readonly simple?: { readonly limit: number; readonly period: 10 | 60 };
}

/** What an upload says of itself besides its modules. */
interface Metadata {
  readonly main_module: string;
  readonly compatibility_date: string;
  readonly compatibility_flags: readonly string[];
  readonly bindings: readonly Binding[];
  readonly migrations?: {
    readonly old_tag?: string;
    readonly new_tag: string;
    readonly steps: readonly { readonly new_sqlite_classes?: readonly string[] }[];
  };
  readonly limits?: { readonly cpu_ms?: number };
  readonly assets?: { readonly jwt: string };
}

/** A version of a Worker. Its bindings are all resolved. */
export interface Version extends Omit<Metadata, "migrations" | "limits" | "assets"> {
  readonly id: string;
  readonly modules: readonly File[];
  /** Static assets by their paths. */
  readonly assets: ReadonlyMap<string, Uint8Array>;
}

interface Worker {
  readonly versions: Version[];
  readonly classes: Set<string>;
  deployed: Version | undefined;
  migrationTag: string | undefined;
  crons: readonly string[];
  isAtWorkersDev: boolean;
}

/** What the account has, and what it lacks. */
export interface Account {
  readonly namespaces: { readonly id: string; readonly title: string }[];
  readonly databases: { readonly uuid: string; readonly name: string }[];
  readonly buckets: string[];
  readonly workers: Map<string, Worker>;
  isPaid: boolean;
  isR2Enabled: boolean;
  /** Its subdomain of workers.dev. */
  subdomain: string | undefined;
}

/** `lost` takes effect, and its answer never arrives; `html` is a page of a proxy in between. */
export type Fault = Refusal | "lost" | "html";

interface Refusal {
  readonly status: number;
  readonly code: number;
  readonly message: string;
}

type Answer = { readonly result: unknown } | Refusal;

interface Asked {
  readonly body: Buffer;
  readonly type: string;
  readonly names: readonly string[];
  readonly authorization: string;
}

export interface FakeCloudflare {
  /** Base of its API. */
  readonly url: string;
  readonly account: Account;
  /** Method and route of each request that may change something. */
  readonly changes: readonly string[];
  /** Bodies of all requests, as text. */
  readonly bodies: readonly string[];
  /** The fault of a request, by its method and route; undefined if it has none. */
  faultOf: (request: string) => Fault | undefined;
  readonly stop: () => Promise<void>;
}

const BASE = "/client/v4";
const ACCOUNT = { id: "acc-1", name: "Ada's account" };
const refuse = (status: number, code: number, message: string): Refusal => ({
  status,
  code,
  message,
});
const NO_WORKER = refuse(404, 10007, "This Worker does not exist on your account.");

export async function fakeCloudflare(): Promise<FakeCloudflare> {
  const account: Account = {
    namespaces: [],
    databases: [],
    buckets: [],
    workers: new Map(),
    isPaid: true,
    isR2Enabled: true,
    subdomain: "ada",
  };
  const changes: string[] = [];
  const bodies: string[] = [];
  const files = new Map<string, Uint8Array>();
  /** Manifests of the assets by the token of their session. */
  const sessions = new Map<string, { readonly [path: string]: { readonly hash: string } }>();

  const ofWorker = (name: string | undefined, result: (worker: Worker) => unknown): Answer => {
    const worker = account.workers.get(name ?? "");
    return worker === undefined ? NO_WORKER : { result: result(worker) };
  };
  const json = ({ body }: Asked) => JSON.parse(body.toString());
  const missingFiles = (token: string) =>
    Object.values(sessions.get(token) ?? {}).filter(({ hash }) => !files.has(hash));

  /** Makes a version of an upload, or says why Cloudflare would not. */
  async function makeVersion(asked: Asked, worker: Worker): Promise<Version | Refusal> {
    const form = await new Response(new Uint8Array(asked.body), {
      headers: { "content-type": asked.type },
    }).formData();
    const text = form.get("metadata");
    if (typeof text !== "string") return refuse(400, 10021, "there is no metadata");
    const metadata: Metadata = JSON.parse(text);
    const { bindings, migrations, limits, assets } = metadata;
    if (limits?.cpu_ms !== undefined && !account.isPaid)
      return refuse(400, 100328, "CPU limits are not supported for the Free plan.");
    if (migrations !== undefined && migrations.old_tag !== worker.migrationTag)
      return refuse(412, 10079, "migration tag precondition failed");
    const made = migrations?.steps.flatMap((step) => step.new_sqlite_classes ?? []) ?? [];
    if (made.some((name) => worker.classes.has(name)))
      return refuse(400, 10074, "Cannot apply new-class migration to an existing class");
    const classes = new Set([...worker.classes, ...made]);
    const token = assets?.jwt ?? "";
    const manifest = sessions.get(token.replace(/^done-/, ""));
    if (!token.startsWith("done-") || manifest === undefined)
      return refuse(400, 100309, "The assets are not uploaded.");
    const resolved = bindings.map((binding) =>
      binding.type === "inherit" ? findBinding(worker, binding.name) : binding,
    );
    for (const [index, binding] of resolved.entries())
      if (binding === undefined)
        return refuse(400, 10057, `inherit binding '${bindings[index]?.name}' is invalid`);
      else if (binding.type === "r2_bucket" && !isThere(binding, classes))
        return refuse(404, 10085, `R2 bucket '${binding.bucket_name}' not found.`);
      else if (!isThere(binding, classes))
        return refuse(400, 10021, `binding ${binding.name} names what is not there`);
    for (const name of made) worker.classes.add(name);
    if (migrations !== undefined) worker.migrationTag = migrations.new_tag;
    const modules = [...form.values()].filter((part) => part instanceof File);
    const version: Version = {
      ...metadata,
      id: randomUUID(),
      bindings: resolved.filter((binding) => binding !== undefined),
      modules,
      assets: new Map(
        Object.entries(manifest).flatMap(([path, { hash }]) => {
          const bytes = files.get(hash);
          return bytes === undefined ? [] : [[path, bytes]];
        }),
      ),
    };
    worker.versions.push(version);
    return version;
  }

  function findBinding({ versions }: Worker, name: string): Binding | undefined {
    return versions.at(-1)?.bindings.find((binding) => binding.name === name);
  }

  function isThere(binding: Binding, classes: ReadonlySet<string>): boolean {
    const { type, namespace_id, id, bucket_name = "", class_name = "" } = binding;
    if (type === "kv_namespace") return account.namespaces.some((one) => one.id === namespace_id);
    if (type === "d1") return account.databases.some(({ uuid }) => uuid === id);
    if (type === "r2_bucket") return account.buckets.includes(bucket_name);
    return type !== "durable_object_namespace" || classes.has(class_name);
  }

  const noR2 = refuse(403, 10042, "Please enable R2 through the Cloudflare Dashboard.");

  const routes: { readonly [methodAndPath: string]: (asked: Asked) => Answer | Promise<Answer> } = {
    "GET /user": () => ({ result: { id: "u", email: "ada@a.example" } }),
    "GET /user/tokens/verify": () => ({ result: { id: "t", status: "active" } }),
    "GET /accounts": () => ({ result: [ACCOUNT] }),
    "GET /memberships": () => ({ result: [{ id: "m", account: ACCOUNT, roles: [] }] }),
    "GET /storage/kv/namespaces": () => ({ result: account.namespaces }),
    "POST /storage/kv/namespaces": (asked) => {
      const { title } = json(asked);
      if (account.namespaces.some((one) => one.title === title))
        return refuse(400, 10014, "a namespace with this account ID and title already exists");
      const namespace = { id: randomUUID().replaceAll("-", ""), title };
      account.namespaces.push(namespace);
      return { result: namespace };
    },
    "DELETE /storage/kv/namespaces/:id": ({ names: [id] }) => {
      const index = account.namespaces.findIndex((one) => one.id === id);
      if (index === -1) return refuse(404, 10013, "namespace not found");
      account.namespaces.splice(index, 1);
      return { result: {} };
    },
    "GET /d1/database/:id": ({ names: [id] }) => {
      const found = account.databases.find(({ uuid, name }) => uuid === id || name === id);
      return found ? { result: found } : refuse(404, 7404, "The database could not be found");
    },
    "GET /d1/database": () => ({ result: account.databases }),
    "POST /d1/database": (asked) => {
      const { name } = json(asked);
      if (account.databases.some((one) => one.name === name))
        return refuse(400, 7502, "A database with that name already exists");
      const database = { uuid: randomUUID(), name };
      account.databases.push(database);
      return { result: database };
    },
    "GET /r2/buckets/:name": ({ names: [name = ""] }) => {
      if (!account.isR2Enabled) return noR2;
      return account.buckets.includes(name)
        ? { result: { name } }
        : refuse(404, 10006, "The specified bucket does not exist.");
    },
    "GET /r2/buckets": () =>
      account.isR2Enabled
        ? { result: { buckets: account.buckets.map((name) => ({ name })) } }
        : noR2,
    "POST /r2/buckets": (asked) => {
      const { name } = json(asked);
      if (!account.isR2Enabled) return noR2;
      if (account.buckets.includes(name))
        return refuse(409, 10004, "The bucket you tried to create already exists");
      account.buckets.push(name);
      return { result: {} };
    },
    "GET /workers/scripts/:name/secrets": ({ names: [name] }) =>
      ofWorker(name, ({ versions }) =>
        versions.at(-1)?.bindings.filter(({ type }) => type === "secret_text"),
      ),
    "GET /workers/services/:name": ({ names: [name] }) =>
      ofWorker(name, ({ migrationTag: migration_tag }) => ({
        id: name,
        default_environment: {
          environment: "production",
          script: { last_deployed_from: "wrangler", tag: "t", tags: [], migration_tag },
        },
      })),
    "GET /workers/scripts/:name/settings": ({ names: [name] }) =>
      ofWorker(name, ({ versions }) => ({ bindings: versions.at(-1)?.bindings })),
    "POST /workers/scripts/:name/assets-upload-session": (asked) => {
      const token: string = randomUUID();
      sessions.set(token, json(asked).manifest);
      const hashes = [...new Set(missingFiles(token).map(({ hash }) => hash))];
      const buckets = [hashes.slice(0, 5), hashes.slice(5)].filter(({ length }) => length > 0);
      return { result: { jwt: buckets.length === 0 ? `done-${token}` : token, buckets } };
    },
    "POST /workers/assets/upload": async ({ body, type, authorization }) => {
      const token = authorization.replace(/^Bearer /, "");
      const form = await new Response(new Uint8Array(body), {
        headers: { "content-type": type },
      }).formData();
      for (const [hash, file] of form) {
        if (!missingFiles(token).some((missing) => missing.hash === hash))
          return refuse(400, 100308, `nobody asked for ${hash}`);
        const text = typeof file === "string" ? file : await file.text();
        files.set(hash, Buffer.from(text, "base64"));
      }
      return { result: missingFiles(token).length === 0 ? { jwt: `done-${token}` } : {} };
    },
    "PUT /workers/scripts/:name": async (asked) => {
      const [name = ""] = asked.names;
      const before = account.workers.get(name);
      const worker: Worker = before ?? {
        versions: [],
        classes: new Set(),
        deployed: undefined,
        migrationTag: undefined,
        crons: [],
        isAtWorkersDev: false,
      };
      const version = await makeVersion(asked, worker);
      if ("status" in version) return version;
      account.workers.set(name, worker);
      worker.deployed = version;
      return { result: { id: name, etag: "e", deployment_id: version.id, startup_time_ms: 9 } };
    },
    "POST /workers/scripts/:name/versions": async (asked) => {
      const worker = account.workers.get(asked.names[0] ?? "");
      if (worker === undefined) return NO_WORKER;
      const version = await makeVersion(asked, worker);
      if ("status" in version) return version;
      const metadata = { created_on: new Date(0).toISOString(), author_email: "ada@a.example" };
      const { id } = version;
      return { result: { id, metadata, resources: { script: { etag: "e" } }, startup_time_ms: 9 } };
    },
    "GET /workers/scripts/:name/versions/:id": ({ names: [name, id] }) =>
      ofWorker(name, ({ versions }) => describeVersion(versions.find((one) => one.id === id))),
    "GET /workers/scripts/:name/versions": ({ names: [name] }) =>
      ofWorker(name, ({ versions }) => ({ items: versions.map(describeVersion).toReversed() })),
    "GET /workers/scripts/:name/deployments": ({ names: [name] }) =>
      ofWorker(name, ({ deployed }) => ({
        deployments: deployed === undefined ? [] : [describeDeployment(deployed)],
      })),
    "POST /workers/scripts/:name/deployments": (asked) => {
      const worker = account.workers.get(asked.names[0] ?? "");
      const wanted: { readonly version_id: string }[] = json(asked).versions;
      const found = worker?.versions.find(({ id }) => id === wanted[0]?.version_id);
      if (worker === undefined || found === undefined) return NO_WORKER;
      worker.deployed = found;
      return { result: describeDeployment(found) };
    },
    "PATCH /workers/scripts/:name/script-settings": ({ names: [name] }) =>
      ofWorker(name, () => ({})),
    "GET /workers/subdomain": () =>
      account.subdomain === undefined
        ? refuse(404, 10007, "You do not have a workers.dev subdomain.")
        : { result: { subdomain: account.subdomain } },
    "GET /workers/workers/:name": ({ names: [name] }) =>
      ofWorker(name, ({ isAtWorkersDev }) => ({
        name,
        subdomain: { enabled: isAtWorkersDev, previews_enabled: false },
      })),
    "POST /workers/scripts/:name/subdomain": (asked) =>
      ofWorker(asked.names[0], (worker) => {
        worker.isAtWorkersDev = json(asked).enabled;
        return { enabled: worker.isAtWorkersDev, previews_enabled: false };
      }),
    "PUT /workers/scripts/:name/schedules": (asked) =>
      ofWorker(asked.names[0], (worker) => {
        worker.crons = json(asked).map(({ cron }: { cron: string }) => cron);
        return { schedules: [] };
      }),
  };

  const fake: { faultOf: FakeCloudflare["faultOf"] } = { faultOf: () => undefined };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    bodies.push(body.toString("latin1"));
    const { pathname, searchParams } = new URL(request.url ?? "", "http://fake");
    const path = pathname.slice(BASE.length).replace(`/accounts/${ACCOUNT.id}`, "");
    // Wrangler asks for pages until one is empty.
    if (Number(searchParams.get("page") ?? 1) > 1) return send(response, { result: [] });
    for (const [route, answerTo] of Object.entries(routes)) {
      const names = match(`${request.method} ${path}`, route);
      if (names === undefined) continue;
      if (!route.startsWith("GET")) changes.push(route);
      const fault = fake.faultOf(route);
      if (fault === "html") return void response.writeHead(502).end("<html>Bad gateway</html>");
      if (typeof fault === "object") return send(response, fault);
      const { "content-type": type = "", authorization = "" } = request.headers;
      const answered = await answerTo({ body, names, type, authorization });
      if (fault === "lost") return void request.socket.destroy();
      return send(response, answered);
    }
    send(response, refuse(404, 7003, `the fake has no ${request.method} ${path}`));
  }

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was assigned");
  return Object.assign(fake, {
    url: `http://127.0.0.1:${address.port}${BASE}`,
    account,
    changes,
    bodies,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  });
}

function describeVersion(version: Version | undefined) {
  const metadata = { created_on: new Date(0).toISOString(), author_email: "ada@a.example" };
  const script = { etag: "e", handlers: ["fetch", "scheduled"], last_deployed_from: "wrangler" };
  const resources = { bindings: version?.bindings, script, script_runtime: {} };
  return { id: version?.id, number: 1, metadata, resources };
}

function describeDeployment({ id }: Version) {
  const versions = [{ version_id: id, percentage: 100 }];
  return { id: `of-${id}`, created_on: new Date(0).toISOString(), source: "wrangler", versions };
}

/** The names in a request that is of a route; undefined if it is not. */
function match(request: string, route: string): readonly string[] | undefined {
  return new RegExp(`^${route.replaceAll(/:\w+/g, "([^/]+)")}$`).exec(request)?.slice(1);
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
