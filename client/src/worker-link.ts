import { CatalogError, type WorkerPort } from "./api.ts";
import type { Answer, Argument, Calls, FromWorker, State } from "./worker-messages.ts";

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: CatalogError) => void;
}

/** A worker, and the page's calls of the catalogs in it. */
export interface WorkerLink {
  /** Whether the worker is gone: it has not loaded, or its last catalog was closed. */
  readonly isEnded: boolean;
  /** Adds a catalog. What it is told of changes in the worker, `onState` hears. */
  add(onState: (state: State) => void): LinkedCatalog;
}

/** One of the worker's catalogs. */
export interface LinkedCatalog {
  /** @throws CatalogError of the worker, or if it has failed or the catalog is closed. */
  call<C extends keyof Calls>(call: C, argument: Argument<C>): Promise<Answer<C>>;
  /** Ends the calls of the catalog, and the worker with its last one. */
  close(): void;
}

/** The workers of a page, by what has started them. */
const links = new Map<() => WorkerPort, WorkerLink>();

/** The worker that a function has started, or else starts. */
export function linkOf(startWorker: () => WorkerPort): WorkerLink {
  const known = links.get(startWorker);
  const link = known === undefined || known.isEnded ? linkWorker(startWorker()) : known;
  links.set(startWorker, link);
  return link;
}

const CLOSED = "the catalog is closed";

function linkWorker(worker: WorkerPort): WorkerLink {
  const hearers = new Map<number, (state: State) => void>();
  const waiting = new Map<number, Waiting & { readonly catalog: number }>();
  let calls = 0;
  let catalogs = 0;
  let isEnded = false;

  function rejectAll(message: string, catalog?: number): void {
    for (const [id, { catalog: other, reject }] of waiting) {
      if (catalog !== undefined && catalog !== other) continue;
      waiting.delete(id);
      reject(failure("internal", message));
    }
  }

  worker.addEventListener("message", (event) => {
    const message = (event as MessageEvent).data as FromWorker;
    if (message.kind === "change") return hearers.get(message.catalog)?.(message.state);
    const call = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.kind === "answer")
      call?.resolve(message.value as never); // of the call of this id
    else call?.reject(new CatalogError(message.failure));
  });
  worker.addEventListener("error", (event) => {
    // Only the event of a script that ran has a message.
    if ("message" in event) return rejectAll(`the worker has failed: ${String(event.message)}`);
    isEnded = true;
    rejectAll(NO_SCRIPT);
  });

  return {
    get isEnded() {
      return isEnded;
    },
    add(onState) {
      const catalog = ++catalogs;
      hearers.set(catalog, onState);
      return {
        async call(call, argument) {
          if (!hearers.has(catalog)) throw failure("internal", CLOSED);
          const id = ++calls;
          return new Promise((resolve, reject) => {
            waiting.set(id, { catalog, resolve, reject });
            worker.postMessage({ id, catalog, call, argument }, {});
          });
        },
        close() {
          if (!hearers.delete(catalog)) return;
          rejectAll(CLOSED, catalog);
          if (hearers.size > 0)
            return worker.postMessage({ id: 0, catalog, call: "close", argument: null }, {});
          isEnded = true;
          worker.terminate();
        },
      };
    },
  };
}

const NO_SCRIPT =
  "the worker's script could not be loaded. With Vite before 8, `vite dev` needs optimizeDeps: " +
  '{ exclude: ["locations-at-the-edge-client"] } in vite.config. Elsewhere see startWorker.';

function failure(code: string, message: string): CatalogError {
  return new CatalogError({ code, message, retryAfterSeconds: null });
}
