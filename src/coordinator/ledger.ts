import { type LedgerFiles, ledgerOf } from "../acceptance/ledger-files.ts";
import type { SavedLedger } from "../backup/state-part.ts";
import type { Manifest } from "../catalog/manifest.ts";

/** The ledger of the last run, and the version that was published then. */
export interface RecordedLedger extends SavedLedger {
  readonly generation: number;
  /** A restored version may have the generation of another one. */
  readonly published_at: string;
}

interface LedgerDependencies {
  readonly read: () => RecordedLedger | null;
  readonly write: (ledger: RecordedLedger) => void;
  /** The version published last. */
  readonly current: () => Manifest | null;
}

/** The ledger of the last run. It counts while the same version is published. */
export class CurrentLedger {
  readonly #deps: LedgerDependencies;

  constructor(deps: LedgerDependencies) {
    this.#deps = deps;
  }

  /** The ledger to compare upstream with; null for that of the snapshot. */
  files(): LedgerFiles | null {
    return this.saved() ?? ledgerOf(this.#deps.current()?.sources ?? {});
  }

  /** The ledger of the last run; null before the first one and after a rollback. */
  saved(): SavedLedger | null {
    const [ledger, current] = [this.#deps.read(), this.#deps.current()];
    if (ledger?.generation !== current?.generation) return null;
    if (ledger === null || ledger.published_at !== current?.published_at) return null;
    const { accepted, held, held_changes } = ledger;
    return { accepted, held, held_changes };
  }

  /** Records a ledger as that of the current version. */
  record(ledger: SavedLedger): void {
    const current = this.#deps.current();
    if (current === null) return;
    const { generation, published_at } = current;
    this.#deps.write({ ...ledger, generation, published_at });
  }
}
