/**
 * A fake of Cloudflare's API over HTTP on this machine, with as much of it as the real wrangler asks
 * for while it deploys a Worker and upgrades it. It keeps what was uploaded.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";

/** A binding as wrangler uploads it. */
interface Binding {
  readonly name: string;
  /** `inherit` for what the deployed version has. */
  readonly type: string;
  readonly text?: string;
}

/** An uploaded Worker. */
export interface Version {
  readonly bindings: readonly Binding[];
  readonly modules: readonly File[];
  /** Static assets by their paths. */
  readonly assets: ReadonlyMap<string, Uint8Array>;
}

/** Wrangler's metadata of an upload. */
interface Metadata extends Pick<Version, "bindings"> {
  readonly keep_bindings?: readonly string[];
  readonly migrations?: { readonly new_tag?: string };
}

interface Refusal {
  readonly status: number;
  readonly code: number;
  readonly message: string;
}

type Answer = { readonly result: unknown } | Refusal;

interface Asked {
  readonly body: Buffer;
  readonly type: string;
  /** The id or name in the path. */
  readonly name: string;
}

const BASE = "/client/v4";
export const ACCOUNT_ID = "acc-1";
const refuse = (status: number, code: number, message: string): Refusal => ({
  status,
  code,
  message,
});
const BROKEN = refuse(500, 10013, "an unknown error has occurred");
/** Cloudflare's answer about a missing Worker. */
const NO_WORKER = 10007;

export class FakeCloudflare {
  /** The next upload of a Worker fails. */
  isBroken = false;
  readonly namespaces: { readonly id: string; readonly title: string }[] = [];
  /** Of the Worker that was deployed. */
  deployed: Version | undefined;
  crons: readonly string[] = [];
  isOnWorkersDev = false;
  customDomains: readonly string[] = [];
  readonly #buckets = new Set<string>();
  readonly #databases: { readonly uuid: string; readonly name: string }[] = [];
  readonly #files = new Map<string, Uint8Array>();
  #migration: string | undefined;
  #manifest: { readonly [path: string]: { readonly hash: string } } = {};
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  readonly #routes: {
    readonly [methodAndPath: string]: (asked: Asked) => Answer | Promise<Answer>;
  } = {
    "GET /storage/kv/namespaces": () => ({ result: this.namespaces }),
    "POST /storage/kv/namespaces": ({ body }) => {
      const { title } = JSON.parse(body.toString());
      if (this.namespaces.some((one) => one.title === title))
        return refuse(400, 10014, "a namespace with this account ID and title already exists");
      const namespace = { id: randomUUID().replaceAll("-", ""), title };
      this.namespaces.push(namespace);
      return { result: namespace };
    },
    "DELETE /storage/kv/namespaces/:name": ({ name }) => {
      const index = this.namespaces.findIndex(({ id }) => id === name);
      if (index === -1) return refuse(404, 10013, "namespace not found");
      this.namespaces.splice(index, 1);
      return { result: {} };
    },
    "GET /d1/database": () => ({ result: this.#databases }),
    "GET /d1/database/:name": ({ name }) => {
      const result = this.#databases.find((one) => one.uuid === name || one.name === name);
      return result ? { result } : refuse(404, 7404, "The database could not be found");
    },
    "POST /d1/database": ({ body }) => {
      const database = { uuid: randomUUID(), name: JSON.parse(body.toString()).name };
      this.#databases.push(database);
      return { result: database };
    },
    "GET /r2/buckets": () => ({
      result: { buckets: [...this.#buckets].map((name) => ({ name })) },
    }),
    "GET /r2/buckets/:name": ({ name }) =>
      this.#buckets.has(name)
        ? { result: { name } }
        : refuse(404, 10006, "The specified bucket does not exist."),
    "POST /r2/buckets": ({ body }) => {
      this.#buckets.add(JSON.parse(body.toString()).name);
      return { result: {} };
    },
    "POST /workers/scripts/:name/assets-upload-session": ({ body }) => {
      this.#manifest = JSON.parse(body.toString()).manifest;
      const hashes = Object.values(this.#manifest).map(({ hash }) => hash);
      const missing = [...new Set(hashes)].filter((hash) => !this.#files.has(hash));
      return { result: { jwt: "assets", buckets: missing.length > 0 ? [missing] : [] } };
    },
    "POST /workers/assets/upload": async (asked) => {
      for (const [hash, file] of await formOf(asked)) {
        const text = typeof file === "string" ? file : await file.text();
        this.#files.set(hash, Buffer.from(text, "base64"));
      }
      return { result: { jwt: "assets" } };
    },
    "GET /workers/services/:name": () => {
      if (this.deployed === undefined) return refuse(404, NO_WORKER, "There is no Worker.");
      const script = { tag: "t", last_deployed_from: "wrangler", migration_tag: this.#migration };
      return { result: { default_environment: { environment: "production", script } } };
    },
    // An upgrade, unless it has migrations of Durable Objects.
    "POST /workers/scripts/:name/versions": async (asked) => {
      this.deployed = this.#versionOf(await formOf(asked));
      const resources = { script: { etag: "e" } };
      return { result: { id: randomUUID(), startup_time_ms: 9, resources } };
    },
    "POST /workers/scripts/:name/deployments": () => ({ result: {} }),
    "PUT /workers/scripts/:name": async (asked) => {
      if (this.isBroken) return BROKEN;
      this.deployed = this.#versionOf(await formOf(asked));
      return { result: { id: asked.name, deployment_id: "d", startup_time_ms: 9 } };
    },
    "GET /workers/scripts/:name/settings": () =>
      this.deployed === undefined
        ? refuse(404, NO_WORKER, "This Worker does not exist on your account.")
        : { result: { bindings: this.deployed.bindings } },
    "PATCH /workers/scripts/:name/secrets-bulk": ({ body }) => {
      if (this.deployed === undefined) return refuse(404, NO_WORKER, "There is no Worker.");
      const secrets: Binding[] = Object.values(JSON.parse(body.toString()).secrets);
      const names = new Set(secrets.map(({ name }) => name));
      const others = this.deployed.bindings.filter(({ name }) => !names.has(name));
      this.deployed = { ...this.deployed, bindings: [...others, ...secrets] };
      return { result: {} };
    },
    "PUT /workers/scripts/:name/schedules": ({ body }) => {
      this.crons = JSON.parse(body.toString()).map(({ cron }: { cron: string }) => cron);
      return { result: { schedules: [] } };
    },
    "PATCH /workers/scripts/:name/script-settings": () => ({ result: {} }),
    "GET /workers/subdomain": () => ({ result: { subdomain: "ada" } }),
    "GET /workers/workers/:name": () =>
      this.deployed === undefined
        ? refuse(404, NO_WORKER, "This Worker does not exist on your account.")
        : { result: { subdomain: { enabled: this.isOnWorkersDev } } },
    "POST /workers/scripts/:name/subdomain": ({ body }) => {
      this.isOnWorkersDev = JSON.parse(body.toString()).enabled;
      return { result: { enabled: this.isOnWorkersDev, previews_enabled: false } };
    },
    "POST /workers/scripts/:name/domains/changeset": () => ({
      result: { added: [], removed: [], updated: [], conflicting: [] },
    }),
    "PUT /workers/scripts/:name/domains/records": ({ body }) => {
      const { origins } = JSON.parse(body.toString());
      this.customDomains = origins.map(({ hostname }: { hostname: string }) => hostname);
      return { result: {} };
    },
  };

  /** @returns the fake and the base of its API. */
  static async start(): Promise<{ readonly cloudflare: FakeCloudflare; readonly url: string }> {
    const cloudflare = new FakeCloudflare();
    cloudflare.#server.listen(0, "127.0.0.1");
    await once(cloudflare.#server, "listening");
    const address = cloudflare.#server.address();
    if (address === null || typeof address === "string") throw new Error("no port was assigned");
    return { cloudflare, url: `http://127.0.0.1:${address.port}${BASE}` };
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  #versionOf(form: FormData): Version {
    const text = form.get("metadata");
    if (typeof text !== "string") throw new Error("there is no metadata");
    const metadata: Metadata = JSON.parse(text);
    this.#migration = metadata.migrations?.new_tag ?? this.#migration;
    const before = new Map(this.deployed?.bindings.map((binding) => [binding.name, binding]));
    const kept = metadata.keep_bindings ?? [];
    const bindings = [
      ...metadata.bindings.map((binding) =>
        binding.type === "inherit" ? (before.get(binding.name) ?? binding) : binding,
      ),
      ...[...before.values()].filter(({ type }) => kept.includes(type)),
    ];
    const files = Object.entries(this.#manifest).map(([path, { hash }]) => {
      const bytes = this.#files.get(hash);
      if (bytes === undefined) throw new Error(`${path} was not uploaded`);
      return [path, bytes] as const;
    });
    const modules = [...form.values()].filter((part) => part instanceof File);
    return { bindings, modules, assets: new Map(files) };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = "", headers } = request;
    const { "content-type": type = "" } = headers;
    const body = await buffer(request);
    const { pathname, searchParams } = new URL(url, "http://fake");
    const path = pathname.slice(BASE.length).replace(`/accounts/${ACCOUNT_ID}`, "");
    // Wrangler asks for pages until one is empty.
    if (Number(searchParams.get("page") ?? 1) > 1) return send(response, { result: [] });
    for (const [route, answerTo] of Object.entries(this.#routes)) {
      const found = new RegExp(`^${route.replace(":name", "([^/]+)")}$`).exec(`${method} ${path}`);
      if (found === null) continue;
      return send(response, await answerTo({ body, type, name: found[1] ?? "" }));
    }
    send(response, refuse(404, NO_WORKER, `There is no ${method} ${path}.`));
  }
}

function formOf({ body, type }: Asked): Promise<FormData> {
  return new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
}

function send(response: ServerResponse, answer: Answer): void {
  const isGood = "result" in answer;
  const envelope = {
    success: isGood,
    result: isGood ? answer.result : null,
    errors: isGood ? [] : [{ code: answer.code, message: answer.message }],
    messages: [],
  };
  response.writeHead(isGood ? 200 : answer.status, { "content-type": "application/json" });
  response.end(JSON.stringify(envelope));
}
