import { Buffer } from "node:buffer";
import { GENERATIONS_PREFIX, MANIFEST_KEY } from "../../src/storage/keys.ts";
import type { FaultyCalls } from "./faulty-calls.ts";

/** R2: what the keys of manifests start with that the Worker has deleted. */
export const COLLECTED_PREFIX = "chaos/collected/";

/** How many values a key that lags may be behind, and the present one. */
const SEEN_MAX = 4;

type Method = (call: () => Promise<never>, args: readonly unknown[]) => unknown;

/** The bindings of the Worker, behind faults. */
export function faultyEnv(env: Env, calls: FaultyCalls): Env {
  return {
    ...env,
    CATALOG: faultyKv(env.CATALOG, calls),
    ARCHIVE: faultyR2(env.ARCHIVE, calls),
    HISTORY: faultyD1(env.HISTORY, calls),
    COORDINATOR: faultyObject(env.COORDINATOR, calls),
    BACKUPS: faultyR2(env.BACKUPS, calls),
  };
}

/** `target` with some of its methods replaced. */
function intercept<T extends object>(target: T, methods: { readonly [name: string]: Method }): T {
  return new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      const method = typeof name === "string" ? methods[name] : undefined;
      return (...args: unknown[]) => {
        const call = () => Reflect.apply(member, target, args);
        return method === undefined ? call() : method(call, args);
      };
    },
  });
}

/** The last few different values that a key had. */
class SeenValues {
  readonly #values: ArrayBuffer[] = [];

  get hasOlder(): boolean {
    return this.#values.length > 1;
  }

  get oldest(): ArrayBuffer | null {
    return this.#values[0] ?? null;
  }

  add(value: ArrayBuffer): void {
    const last = this.#values.at(-1);
    if (last !== undefined && Buffer.from(last).equals(Buffer.from(value))) return;
    this.#values.push(value);
    if (this.#values.length > SEEN_MAX) this.#values.shift();
  }
}

function faultyKv(kv: KVNamespace, calls: FaultyCalls): KVNamespace {
  const seen = new SeenValues();
  const write =
    (operation: string): Method =>
    (call) =>
      calls.make({ binding: "kv", operation, kind: "write", call });
  return intercept(kv, {
    put: write("put"),
    delete: write("delete"),
    get: (call: () => Promise<ArrayBuffer | null>, [key]) =>
      calls.make<ArrayBuffer | null>({
        binding: "kv",
        operation: "get",
        kind: "read",
        async call() {
          const value = await call();
          if (key === MANIFEST_KEY && value !== null) seen.add(value);
          return value;
        },
        damage: {
          corrupt: (value) => value && calls.corrupt(value),
          missing: () => null,
          ...(key === MANIFEST_KEY && seen.hasOlder && { stale: () => seen.oldest }),
        },
      }),
  });
}

function faultyR2(r2: R2Bucket, calls: FaultyCalls): R2Bucket {
  const plain =
    (operation: string, kind: "read" | "write"): Method =>
    (call) =>
      calls.make({ binding: "r2", operation, kind, call });
  return intercept(r2, {
    put: plain("put", "write"),
    delete: (call: () => Promise<never>, [keys]) =>
      calls.make({
        binding: "r2",
        operation: "delete",
        kind: "write",
        async call() {
          for (const key of [keys].flat()) await keepForChecker(r2, String(key));
          return call();
        },
      }),
    head: plain("head", "read"),
    list: plain("list", "read"),
    get: (call: () => Promise<R2ObjectBody | null>) =>
      calls.make<R2ObjectBody | null>({
        binding: "r2",
        operation: "get",
        kind: "read",
        call,
        damage: { corrupt: async (object) => object && corruptObject(object, calls) },
      }),
  });
}

/** The checker knows a version by its manifest, also when none that is retained names it. */
async function keepForChecker(r2: R2Bucket, key: string): Promise<void> {
  if (!key.startsWith(GENERATIONS_PREFIX)) return;
  const manifest = await r2.get(key);
  if (manifest !== null) await r2.put(`${COLLECTED_PREFIX}${key}`, await manifest.arrayBuffer());
}

async function corruptObject(object: R2ObjectBody, calls: FaultyCalls): Promise<R2ObjectBody> {
  const damaged = new Response(calls.corrupt(await object.arrayBuffer()));
  return new Proxy(object, {
    get(_, name) {
      if (name === "body") return damaged.body;
      if (name === "arrayBuffer") return async () => damaged.arrayBuffer();
      if (name === "text") return async () => damaged.text();
      if (name === "json") return async () => damaged.json();
      return Reflect.get(object, name, object);
    },
  });
}

function faultyD1(d1: D1Database, calls: FaultyCalls): D1Database {
  const originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>();
  const make =
    (operation: string, kind: "read" | "write"): Method =>
    (call) =>
      calls.make({ binding: "d1", operation, kind, call });
  const statement = (original: D1PreparedStatement): D1PreparedStatement => {
    const faulty = intercept(original, {
      bind: (_, args) => statement(original.bind(...args)),
      first: make("first", "read"),
      all: make("all", "read"),
      raw: make("raw", "read"),
      run: make("run", "write"),
    });
    originals.set(faulty, original);
    return faulty;
  };
  return intercept(d1, {
    prepare: (_, [query]) => statement(d1.prepare(String(query))),
    batch: (_, [statements]) => {
      const batch = (statements as D1PreparedStatement[]) // batch() takes no other
        .map((one) => originals.get(one) ?? one);
      return calls.make({
        binding: "d1",
        operation: "batch",
        kind: "write",
        call: async () => d1.batch(batch),
      });
    },
  });
}

function faultyObject<T extends Rpc.DurableObjectBranded>(
  namespace: DurableObjectNamespace<T>,
  calls: FaultyCalls,
): DurableObjectNamespace<T> {
  return intercept(namespace, {
    getByName(_, [name]) {
      const stub = namespace.getByName(String(name));
      return new Proxy(stub, {
        get(__, method) {
          const member: unknown = Reflect.get(stub, method, stub);
          if (typeof member !== "function" || typeof method === "symbol") return member;
          return (...args: unknown[]) =>
            calls.make({
              binding: "object",
              operation: "call",
              kind: "write",
              call: async () => Reflect.apply(member, stub, args),
            });
        },
      });
    },
  });
}
