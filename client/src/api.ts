/** The types of `openCatalog` and `openSearch`, the same wherever they run. */
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
  /** Time limit of an opening, of a change of the language, and of a refresh. Default: 60,000. */
  readonly timeoutMs?: number;
  /** Node only: keeps the catalog of each locale. Default: `~/.cache/locations-at-the-edge`. */
  readonly folder?: string;
  /** How many locales stay stored, 3 MB each: those opened last. 0 stores nothing. Default: 3. */
  readonly storedLocales?: number;
  /**
   * If true, the first search fetches names in other languages (400 kB). A search waits for them if they
   * may change its first result, unless that is a city or a country with one of the 500 busiest airports.
   * If false, opening waits for them. Default: false; true for `openSearch`, except in Workers.
   */
  readonly lazyNames?: boolean;
  /** Browsers only: starts `locations-at-the-edge-client/worker` as the page's policy or bundler wants. */
  readonly startWorker?: () => WorkerPort;
  /** Not in browsers: sends each request, with more headers or over a service binding. */
  readonly fetch?: typeof globalThis.fetch;
  /** Once it is aborted, the opening rejects with its reason. */
  readonly signal?: AbortSignal;
}

export interface SearchOptions {
  /** How many places at most, up to 40. Default: 10. */
  readonly limit?: number;
  /** Once it is aborted, the search rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** A search in one locale at a time. Its functions work without it, as after destructuring. */
export interface LocationsSearch {
  /** Language of the names of regions and countries: that of the locale, or the closest that is published. */
  readonly language: string;
  /** When all of it was last fetched or found current, also before it was stored. */
  readonly lastRefreshed: Date;
  /** Why the last refresh failed, also one in the background; null if it did not. */
  readonly lastError: CatalogError | null;
  /**
   * Finds airports, cities, countries and regions by codes and by names in any language, best first.
   *
   * @throws CatalogError if it finds nothing without names that cannot be fetched.
   */
  readonly search: (typed: string, options?: SearchOptions) => Promise<readonly Suggestion[]>;
  /** Returns the place with an id, or the airport with an IATA code, in either case; undefined if there is none. */
  readonly get: (key: string) => Promise<Suggestion | undefined>;
  /**
   * Finds the airports with scheduled service nearest to a position, the nearest first.
   *
   * @throws CatalogError `invalid_argument` if the position is none.
   */
  readonly nearest: (
    position: Position,
    options?: NearestOptions,
  ) => Promise<readonly NearAirport[]>;
  /**
   * Changes the language. Until it is there, the earlier one is searched. Of several calls the last one
   * wins, even if it fails: one that has not ended by then has no effect.
   *
   * @throws CatalogError if it has to be fetched, and cannot be in time. The earlier language stays.
   */
  readonly setLocale: (locale: string) => Promise<void>;
  /**
   * Fetches what has changed. That also happens in the background when a stored catalog is opened.
   *
   * @throws CatalogError if the service does not answer in time, or something else answers. What
   *   is open stays usable.
   */
  readonly refresh: () => Promise<void>;
  /**
   * Calls the listener when a search may find something else, or `lastRefreshed` or `lastError` has
   * changed; returns a function that ends this. What the listener throws is reported as uncaught.
   */
  readonly onChange: (listener: () => void) => () => void;
  /**
   * Ends all calls, which fail as `canceled`, and calls no listener any more. Ends the worker if nothing
   * else is open in it.
   */
  readonly close: () => void;
}

/** The catalog of one locale at a time, which can be searched. */
export interface LocationsCatalog extends LocationsSearch {
  /** `Catalog-Version` of the catalog that is searched. */
  readonly version: number;
  /** The joined catalog: `airports[0].city.country.name`. */
  readonly places: () => Promise<Catalog>;
}

/** The part of `Worker` that the package uses. */
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
