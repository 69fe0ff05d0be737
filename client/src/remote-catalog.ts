import { CatalogError, type LocationsCatalog, type WorkerPort } from "./api.ts";
import { type Catalog, unpackCatalog } from "./catalog.ts";
import type { Suggestion } from "./suggestion.ts";
import type {
  Answer,
  Argument,
  Calls,
  FromWorker,
  State,
  WorkerOptions,
} from "./worker-messages.ts";

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: CatalogError) => void;
}

/** A catalog that a worker has. */
export class RemoteCatalog implements LocationsCatalog {
  readonly #worker: WorkerPort;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Set<() => void>();
  #calls = 0;
  #state: State = { version: 0, language: "" };
  #isClosed = false;

  private constructor(worker: WorkerPort) {
    this.#worker = worker;
    worker.addEventListener("message", (event) =>
      this.#hear((event as MessageEvent).data as FromWorker),
    );
    worker.addEventListener("error", (event) => this.#rejectAll(describeFailure(event)));
  }

  static async open(worker: WorkerPort, options: WorkerOptions): Promise<RemoteCatalog> {
    const catalog = new RemoteCatalog(worker);
    try {
      await catalog.#call("open", options);
      return catalog;
    } catch (cause) {
      worker.terminate();
      throw cause;
    }
  }

  get version(): number {
    return this.#state.version;
  }

  get language(): string {
    return this.#state.language;
  }

  search(typed: string, limit?: number): Promise<readonly Suggestion[]> {
    return this.#call("search", limit === undefined ? { typed } : { typed, limit });
  }

  async places(): Promise<Catalog> {
    return unpackCatalog(await this.#call("pack", null));
  }

  setLocale(locale: string): Promise<void> {
    return this.#call("setLocale", locale);
  }

  refresh(): Promise<void> {
    return this.#call("refresh", null);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#worker.terminate();
    this.#listeners.clear();
    this.#rejectAll(CLOSED);
  }

  async #call<C extends keyof Calls>(call: C, argument: Argument<C>): Promise<Answer<C>> {
    if (this.#isClosed) throw internalError(CLOSED);
    const id = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, call, argument }, {});
    });
  }

  #hear(message: FromWorker): void {
    if (message.kind === "change") {
      this.#state = message.state;
      for (const listener of this.#listeners) listener();
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.kind === "answer")
      waiting?.resolve(message.value as never); // of the call of this id
    else waiting?.reject(new CatalogError(message.failure));
  }

  #rejectAll(message: string): void {
    for (const { reject } of this.#waiting.values()) reject(internalError(message));
    this.#waiting.clear();
  }
}

const CLOSED = "the catalog is closed";

function internalError(message: string): CatalogError {
  return new CatalogError({ code: "internal", message, retryAfterSeconds: null });
}

/** Only the event of a script that ran has a message. */
function describeFailure(event: Event): string {
  return "message" in event
    ? `the worker has failed: ${String(event.message)}`
    : "the worker's script could not be loaded: see startWorker";
}
