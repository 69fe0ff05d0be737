/** The worker of `browser.ts`. */
import { indexedDbStore } from "./indexed-db-store.ts";
import { SearchableCatalog } from "./searchable-catalog.ts";
import { toCatalogError } from "./to-catalog-error.ts";
import type { Answer, FromWorker, ToWorker, WorkerOptions } from "./worker-messages.ts";

let opened: SearchableCatalog | undefined;

addEventListener("message", ({ data }: MessageEvent<ToWorker>) => void reply(data));

async function reply(message: ToWorker): Promise<void> {
  const { id } = message;
  try {
    tell({ kind: "answer", id, value: await answer(message) });
  } catch (cause) {
    const { code, message: text, retryAfterSeconds } = toCatalogError(cause);
    tell({ kind: "failure", id, failure: { code, message: text, retryAfterSeconds } });
  }
}

async function answer({ call, argument }: ToWorker): Promise<Answer<ToWorker["call"]>> {
  if (call === "open") return open(argument);
  if (opened === undefined) throw new Error("no catalog is open");
  switch (call) {
    case "search":
      return opened.search(argument.typed, argument.limit);
    case "pack":
      return opened.pack();
    case "setLocale":
      return opened.setLocale(argument);
    case "refresh":
      return opened.refresh();
    default:
      return call satisfies never;
  }
}

async function open(options: WorkerOptions): Promise<void> {
  const catalog = await SearchableCatalog.open(options, indexedDbStore());
  const tellState = () => {
    const { version, language } = catalog;
    tell({ kind: "change", state: { version, language } });
  };
  catalog.onChange(tellState);
  tellState();
  opened = catalog;
}

function tell(message: FromWorker): void {
  postMessage(message);
}
