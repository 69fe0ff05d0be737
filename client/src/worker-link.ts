import { CatalogError, type OpenOptions, type WorkerPort } from "./api.ts";
import type { Calls, Core, FromWorker, State } from "./calls.ts";
import { withDeadline } from "./deadline.ts";
import { orAborted } from "./joint.ts";
import { check, closed, misuse, readCaller } from "./options.ts";

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: CatalogError) => void;
}

/** A worker, and the calls of the page to it. */
export interface WorkerLink {
  /** Whether the worker is gone: it has not loaded, or its last catalog was closed. */
  readonly isEnded: boolean;
  /**
   * Adds a catalog or a search, whose first call opens it. Closing it ends its calls, and the worker
   * with its last one.
   *
   * @param timeoutMs after which the worker itself gives up a call.
   */
  add(timeoutMs: number): RemoteCore;
}

export type RemoteCore = Core<keyof Calls>;

/** The workers of a page, by the functions that have started them. */
const links = new Map<() => WorkerPort, WorkerLink>();

/** Returns the worker that a function has started, or starts it. */
export function linkOf(startWorker: () => WorkerPort): WorkerLink {
  const known = links.get(startWorker);
  const link = known === undefined || known.isEnded ? linkWorker(start(startWorker)) : known;
  links.set(startWorker, link);
  return link;
}

/** @throws CatalogError if that fails, or returns no worker. */
function start(startWorker: () => WorkerPort): WorkerPort {
  try {
    const worker = startWorker();
    check("the result of startWorker", worker, isWorker, "a Worker");
    return worker;
  } catch (cause) {
    if (cause instanceof CatalogError) throw cause;
    const message = `this page may not start the worker (${String(cause)}), as from a CDN: see startWorker`;
    throw new CatalogError(
      { code: "failed_precondition", message, retryAfterSeconds: null },
      { cause },
    );
  }
}

function isWorker(value: unknown): boolean {
  const { postMessage, addEventListener, terminate } = (value ?? {}) as Partial<WorkerPort>; // or anything
  return [postMessage, addEventListener, terminate].every((one) => typeof one === "function");
}

/** The address of a page, if there is one, and its worker unless `startWorker` starts another. */
interface Place {
  readonly page: string | undefined;
  readonly startOwnWorker: () => WorkerPort;
}

/**
 * Opens a catalog or a search in a worker.
 *
 * @throws CatalogError of the worker, or if it fails; the reason of the signal.
 */
export async function openRemote(
  call: "open" | "openSearch",
  options: OpenOptions,
  { page, startOwnWorker }: Place,
): Promise<RemoteCore> {
  const caller = readCaller(options, { page, lazyNames: call === "openSearch" });
  const { baseUrl, locale, timeoutMs, storedLocales, lazyNames, fetch, signal } = caller;
  if (fetch !== undefined)
    throw misuse("invalid_argument", "fetch has no effect in a browser, where a worker fetches");
  const { startWorker = startOwnWorker } = options;
  signal?.throwIfAborted();
  const core = linkOf(startWorker).add(timeoutMs);
  try {
    const argument = { baseUrl, locale, timeoutMs, storedLocales, lazyNames };
    await orAborted(core.call(call, argument), signal);
    return core;
  } catch (cause) {
    core.close();
    throw cause;
  }
}

/** A worker that is silent for this much longer has not been loaded, or hangs. */
const GRACE_MS = 2000;

const NOT_OPEN: State<CatalogError> = { version: 0, language: "", lookedAt: 0, lastError: null };

function linkWorker(worker: WorkerPort): WorkerLink {
  const hearers = new Map<number, (state: State) => void>();
  const waiting = new Map<number, Waiting & { readonly catalog: number }>();
  let calls = 0;
  let catalogs = 0;
  /** Whether it has ever said anything. */
  let isLoaded = false;
  let isEnded = false;

  function rejectAll(error: CatalogError, catalog?: number): void {
    for (const [id, { catalog: other, reject }] of waiting) {
      if (catalog !== undefined && catalog !== other) continue;
      waiting.delete(id);
      reject(error);
    }
  }

  worker.addEventListener("message", (event) => {
    isLoaded = true;
    const message = (event as MessageEvent).data as FromWorker;
    if (message.kind === "change") return hearers.get(message.catalog)?.(message.state);
    const call = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.kind === "answer")
      call?.resolve(message.value as never); // of the call of this id
    else call?.reject(new CatalogError(message.failure));
  });
  worker.addEventListener("error", (event) => {
    // Without a script, or a part of it, the event has no message.
    const said = "message" in event ? ` (${String(event.message)})` : "";
    if (isLoaded) return rejectAll(misuse("internal", `the worker has failed${said}`));
    isEnded = true;
    rejectAll(misuse("unavailable", `${NO_SCRIPT}${said}: ${SCRIPT_ADVICE}`));
  });

  return {
    get isEnded() {
      return isEnded;
    },
    add(timeoutMs) {
      const catalog = ++catalogs;
      let state = NOT_OPEN;
      const listeners = new Set<() => void>();
      hearers.set(catalog, ({ lastError, ...current }) => {
        state = { ...current, lastError: lastError && new CatalogError(lastError) };
        for (const listener of listeners) listener();
      });
      return {
        get state() {
          return state;
        },
        async call(call, argument) {
          if (!hearers.has(catalog)) throw closed();
          const id = ++calls;
          const answered = new Promise<never>((resolve, reject) => {
            waiting.set(id, { catalog, resolve, reject });
            worker.postMessage({ id, catalog, call, argument }, {});
          });
          return withDeadline(timeoutMs + GRACE_MS, (deadline) =>
            orAborted(answered, deadline).catch((cause: unknown) => {
              waiting.delete(id);
              throw deadline.aborted ? misuse("deadline_exceeded", SILENT) : cause;
            }),
          );
        },
        onChange(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
        close() {
          listeners.clear();
          if (!hearers.delete(catalog)) return;
          rejectAll(closed(), catalog);
          if (hearers.size > 0)
            return worker.postMessage({ id: 0, catalog, call: "close", argument: null }, {});
          isEnded = true;
          worker.terminate();
        },
      };
    },
  };
}

const SILENT = "the worker does not answer: check the connection, and try again";

const NO_SCRIPT = "the worker's script could not be loaded from the address of this page";

const SCRIPT_ADVICE =
  "check the connection, and try again. If it never can, with Vite before 8, `vite dev` needs optimizeDeps: " +
  '{ exclude: ["locations-at-the-edge-client"] } in vite.config. Elsewhere see startWorker.';
