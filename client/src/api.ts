/** What `openCatalog` takes and returns, wherever it runs. */
import type { Catalog } from "./catalog.ts";
import type { Suggestion } from "./suggestion.ts";

export type {
  AirportPlace,
  Catalog,
  CityPlace,
  CountryPlace,
  Place,
  RegionPlace,
} from "./catalog.ts";
export type { Suggestion } from "./suggestion.ts";

export interface OpenOptions {
  /** Address of the service, such as `https://locations.example.com`; in browsers also a path, such as `/`. */
  readonly baseUrl: string;
  /** BCP 47 language tag of the regions' names; the service's default without one. */
  readonly locale?: string;
  /** How long opening, a change of the language and a refresh may take each. Default: 60,000. */
  readonly timeoutMs?: number;
  /** Node only: keeps the catalog of each locale. Default: `~/.cache/locations-at-the-edge`. */
  readonly folder?: string;
  /** Browsers only: starts `locations-at-the-edge-client/worker` as the page's policy or bundler wants. */
  readonly startWorker?: () => WorkerPort;
  /** Not in browsers: for what is sent with each request, or for a service binding. */
  readonly fetch?: typeof globalThis.fetch;
}

/** The catalog of one locale at a time, which can be searched. */
export interface LocationsCatalog {
  /** `Catalog-Version` of what is searched. */
  readonly version: number;
  /** Language of the regions' names: that of the locale, or the closest that is published. */
  readonly language: string;
  /** Finds airports, cities, countries and regions by codes and by names in any language, best first. */
  search(typed: string, limit?: number): Promise<readonly Suggestion[]>;
  /** The joined catalog: `airports[0].city.country.name`. */
  places(): Promise<Catalog>;
  /** Changes the language. Until it is there, the earlier one is searched. */
  setLocale(locale: string): Promise<void>;
  /**
   * Fetches what has changed. That also happens in the background when a stored catalog is opened.
   *
   * @throws CatalogError if the service cannot be reached in time. What is there stays good.
   */
  refresh(): Promise<void>;
  /** Calls the listener when a search may find something else; returns what ends that. */
  onChange(listener: () => void): () => void;
  /** Ends the worker. */
  close(): void;
}

/** What is used of a `Worker`. */
export interface WorkerPort {
  postMessage(message: unknown, options: Record<string, never>): void;
  addEventListener(type: "message" | "error", listener: (event: Event) => void): void;
  terminate(): void;
}

/** Why a call of the service failed. */
export interface CatalogFailure {
  /** A code of Connect, such as `unavailable` or `invalid_argument`. */
  readonly code: string;
  readonly message: string;
  /** From the header Retry-After. */
  readonly retryAfterSeconds: number | null;
}

export class CatalogError extends Error implements CatalogFailure {
  override readonly name = "CatalogError";
  readonly code: string;
  readonly retryAfterSeconds: number | null;

  constructor({ code, message, retryAfterSeconds }: CatalogFailure, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
