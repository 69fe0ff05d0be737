/** Answers the calls of a page in its worker. */
import { CatalogError, type CatalogFailure } from "./api.ts";
import type { Answer, Argument, FromWorker, ToWorker, WorkerOptions } from "./calls.ts";
import type { ThreadCore } from "./core.ts";
import { toCatalogError } from "./to-catalog-error.ts";

/** What a worker opens. */
export interface Openers {
  readonly open?: (options: WorkerOptions) => Promise<ThreadCore>;
  readonly openSearch?: (options: WorkerOptions) => Promise<ThreadCore>;
  readonly prepare?: (options: WorkerOptions) => Promise<void>;
  readonly show?: (answer: Argument<"show">) => Promise<ShownAnswer>;
}

/** An answer that the page has fetched itself. */
export interface ShownAnswer {
  /** Its catalog for the page, which calls `unpackCatalog`. */
  readonly packed: string;
  /** Makes it searchable. */
  readonly open: () => Promise<ThreadCore>;
}

export function answerPage({ open, openSearch, prepare, show }: Openers): void {
  /** By their numbers. That of an answer comes later than the answer. */
  const cores = new Map<number, Promise<ThreadCore>>();
  /** What makes the answers searchable that have been shown, for the first search. */
  const shown = new Map<number, () => Promise<ThreadCore>>();

  addEventListener("message", ({ data }: MessageEvent<ToWorker>) => void reply(data));

  async function reply(message: ToWorker): Promise<void> {
    const { id } = message;
    try {
      tell({ kind: "answer", id, value: await answer(message) });
    } catch (cause) {
      tell({ kind: "failure", id, failure: failureOf(toCatalogError(cause)) });
    }
  }

  async function answer(message: ToWorker): Promise<Answer<ToWorker["call"]>> {
    const { catalog: number, call, argument } = message;
    switch (call) {
      case "open":
        return use(number, needed(open)(argument));
      case "openSearch":
        return use(number, needed(openSearch)(argument));
      case "prepare":
        return needed(prepare)(argument);
      case "show": {
        const { packed, open: openShown } = await needed(show)(argument);
        if (argument.isWhole) shown.set(number, openShown);
        return packed;
      }
      case "close":
        (await opened(number)).close();
        return void cores.delete(number);
      case "search":
      case "get":
      case "nearest":
      case "setLocale":
      case "refresh":
      case "pack":
        return (await opened(number)).call(call, argument);
      default:
        return message satisfies never;
    }
  }

  /** Makes a core that of a number. */
  async function use(number: number, opening: Promise<ThreadCore>): Promise<void> {
    const before = cores.get(number);
    cores.set(number, opening);
    const core = await opening;
    before?.then((earlier) => earlier.close()).catch(() => undefined);
    const tellState = () => {
      const { lastError, ...state } = core.state;
      const current = { ...state, lastError: lastError && failureOf(lastError) };
      tell({ kind: "change", catalog: number, state: current });
    };
    core.onChange(tellState);
    tellState();
    setTimeout(core.warmUp, 0); // after the messages that wait
  }

  function opened(number: number): Promise<ThreadCore> {
    const openShown = shown.get(number);
    shown.delete(number);
    // The search that waits for it says why there is none.
    if (openShown !== undefined) use(number, openShown()).catch(() => undefined);
    const core = cores.get(number);
    if (core === undefined) throw new Error("no catalog is open");
    return core;
  }
}

/** @throws CatalogError if this worker lacks it, as that of `openSearch` lacks the catalog. */
function needed<T>(opener: T | undefined): T {
  if (opener !== undefined) return opener;
  const message = "startWorker starts the worker of openSearch: openCatalog needs the other one";
  throw new CatalogError({ code: "invalid_argument", message, retryAfterSeconds: null });
}

function failureOf({ code, message, retryAfterSeconds }: CatalogFailure): CatalogFailure {
  return { code, message, retryAfterSeconds };
}

function tell(message: FromWorker): void {
  postMessage(message);
}
