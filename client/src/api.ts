/** What `openCatalog` and `openSearch` take and return, wherever they run. */
import type { Catalog } from "./catalog.ts";
import type { Position } from "./distance.ts";
import type { NearAirport, NearestOptions } from "./nearest.ts";
import type { Suggestion } from "./suggestion.ts";

export type {
  AirportPlace,
  Catalog,
  CityPlace,
  CountryPlace,
  Place,
  RegionPlace,
} from "./catalog.ts";
export type { ClosedAirport } from "./search/ranks.ts";
export type { Position } from "./distance.ts";
export type { NearAirport, NearestOptions } from "./nearest.ts";
export type { Suggestion } from "./suggestion.ts";
export { takeLatest } from "./take-latest.ts";

export interface OpenOptions {
  /** Address of the service, such as `https://locations.example.com`; in browsers also a path, such as `/`. */
  readonly baseUrl: string;
  /** BCP 47 language tag of the names of regions and countries; the service's default without one. */
  readonly locale?: string;
  /** How long opening, a change of the language and a refresh may take each. Default: 60,000. */
  readonly timeoutMs?: number;
  /** Node only: keeps the catalog of each locale. Default: `~/.cache/locations-at-the-edge`. */
  readonly folder?: string;
  /** So many locales, those that were opened last, stay stored, 1.9 MB each; nothing with 0. Default: 3. */
  readonly storedLocales?: number;
  /**
   * Whether the first search has names in other languages (365 kB) fetched, and does not wait for them.
   * Otherwise opening does. Default: false; of `openSearch` true, except in Workers.
   */
  readonly lazyNames?: boolean;
  /** Browsers only: starts `locations-at-the-edge-client/worker` as the page's policy or bundler wants. */
  readonly startWorker?: () => WorkerPort;
  /** Not in browsers: for what is sent with each request, or for a service binding. */
  readonly fetch?: typeof globalThis.fetch;
  /** Ends the wait for the opening, which then rejects with its reason. */
  readonly signal?: AbortSignal;
}

export interface SearchOptions {
  /** At most so many places, of 40. Default: 10. */
  readonly limit?: number;
  /** Ends the wait for the search, which then rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** A search in one locale at a time. Its functions may be taken out of it. */
export interface LocationsSearch {
  /** Language of the names of regions and countries: that of the locale, or the closest that is published. */
  readonly language: string;
  /** When all of it was last fetched or found current. A stored one has the time that was stored. */
  readonly lastRefreshed: Date;
  /** Why the last refresh failed, also one in the background; null if it did not. */
  readonly lastError: CatalogError | null;
  /**
   * Finds airports, cities, countries and regions by codes and by names in any language, best first.
   *
   * @throws CatalogError if it needs names that have not come, and cannot be fetched.
   */
  readonly search: (typed: string, options?: SearchOptions) => Promise<readonly Suggestion[]>;
  /** Returns the place of an id, or the airport of an IATA code; undefined if there is none. */
  readonly get: (key: string) => Promise<Suggestion | undefined>;
  /**
   * Finds the airports with scheduled service nearest to a position, the nearest first.
   *
   * @throws CatalogError `invalid_argument` if that is no position.
   */
  readonly nearest: (
    position: Position,
    options?: NearestOptions,
  ) => Promise<readonly NearAirport[]>;
  /** Changes the language. Until it is there, the earlier one is searched. */
  readonly setLocale: (locale: string) => Promise<void>;
  /**
   * Fetches what has changed. That also happens in the background when a stored catalog is opened.
   *
   * @throws CatalogError if it could not look in time, or what answered is not the service. What is
   *   there stays good.
   */
  readonly refresh: () => Promise<void>;
  /**
   * Calls the listener when a search may find something else, or `lastRefreshed` or `lastError` has
   * changed; returns what ends that.
   */
  readonly onChange: (listener: () => void) => () => void;
  /** Calls no listener any more, and ends the worker that has no other catalog. */
  readonly close: () => void;
}

/** The catalog of one locale at a time, which can be searched. */
export interface LocationsCatalog extends LocationsSearch {
  /** `Catalog-Version` of what is searched. */
  readonly version: number;
  /** The joined catalog: `airports[0].city.country.name`. */
  readonly places: () => Promise<Catalog>;
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
