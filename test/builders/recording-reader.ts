import { Buffer } from "node:buffer";
import { create, type MessageInitShape, toBinary, toJsonString } from "@bufbuild/protobuf";
import {
  type LocationsResponse,
  LocationsResponseSchema,
} from "../../gen/locations/v1/locations_pb.ts";
import type { EncodedPart } from "../../src/catalog/encode.ts";
import {
  type AnyCoding,
  type Body,
  composeBody,
  type Representation,
  REPRESENTATIONS,
} from "../../src/parts/compose.ts";
import { type Coding, CODINGS, type Manifest, messageSha256 } from "../../src/parts/manifest.ts";
import { sentBytes } from "../../src/storage/catalog-store.ts";
import { CachedCatalogReader } from "../../src/storage/cached-catalog-reader.ts";
import type {
  BodyContent,
  CurrentResult,
  OpenResult,
  ReaderDependencies,
  BodyToOpen,
} from "../../src/storage/catalog-reader.ts";
import { aManifest } from "./manifest.ts";
import { type MadeParts, makeParts } from "./parts.ts";
import { type MemoryCatalogStore, memoryCatalogStore } from "./memory-catalog-store.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A small catalog whose only localized word is its region's name. */
function aLocationsResponse(locale: string): LocationsResponse {
  const id = (byte: number): { value: Uint8Array } => ({ value: new Uint8Array(16).fill(byte) });
  return create(LocationsResponseSchema, {
    airports: [
      {
        id: id(1),
        iata: "ZRH",
        icao: "LSZH",
        name: "Zürich",
        lat: 47.4581,
        lon: 8.5481,
        cityId: id(2),
      },
    ],
    cities: [{ id: id(2), name: "Zürich", countryId: id(3), lat: 47.36667, lon: 8.55 }],
    countries: [
      { id: id(3), isoCode2: "CH", isoCode3: "CHE", nameEng: "Switzerland", nameNative: "Schweiz" },
    ],
    regions: [
      {
        id: id(4),
        slug: "canton-of-zurich",
        name: "Canton of Zürich",
        nameLocalized: `Canton of Zürich in ${locale}, ${"and so on ".repeat(120)}`,
        slugLocalized: `canton-of-zurich-${locale.toLowerCase()}`,
        airportIataCodes: ["ZRH"],
      },
    ],
  });
}

/** Encodes the parts of a message. Serialized messages concatenate, and so do pieces of JSON. */
function encodeParts(message: LocationsResponse): { shared: EncodedPart; locale: EncodedPart } {
  const { regions, ...rest } = message;
  const proto = (fields: MessageInitShape<typeof LocationsResponseSchema>) =>
    new Uint8Array(toBinary(LocationsResponseSchema, create(LocationsResponseSchema, fields)));
  const json = toJsonString(LocationsResponseSchema, message);
  const cut = json.indexOf(',"regions":');
  const utf8 = (text: string) => new Uint8Array(new TextEncoder().encode(text));
  return {
    shared: { proto: proto({ ...rest, regions: [] }), json: utf8(json.slice(0, cut)) },
    locale: { proto: proto({ regions }), json: utf8(json.slice(cut)) },
  };
}

export interface SmallCatalog {
  readonly locales?: readonly string[];
  readonly generation?: number;
  /** Codings besides identity; both by default. */
  readonly codings?: readonly Coding[];
}

const LOCALES = ["en", "de", "he", "no", "zh", "zh-Hant"];

/**
 * The real reader over a small catalog in stores in memory. It holds nothing but the manifest until
 * `hold`. It records its calls, and fails or waits on request.
 */
export class RecordingReader extends CachedCatalogReader {
  readonly store: MemoryCatalogStore;
  readonly opened: BodyToOpen[] = [];
  currentCalls = 0;
  /** Returned by `current` in place of what the stores have. */
  currentResult: CurrentResult | undefined;
  /** Returned by `open` in place of what the stores have. */
  openResult: OpenResult | undefined;
  /** Thrown by `open` and `cachedContent`, which a correct reader never does. */
  openThrows: unknown;
  /** How long `open` takes. */
  openMs = 0;
  readonly #deps: ReaderDependencies;
  readonly #blobs: MadeParts["blobs"];
  #manifest: Manifest;
  /** Holds everything. */
  #warm: CachedCatalogReader | undefined;

  constructor({ locales = LOCALES, generation = 7, codings = CODINGS }: SmallCatalog = {}) {
    const store = memoryCatalogStore();
    const deps: ReaderDependencies = {
      store,
      now: Date.now,
      waitUntil: (promise) => void promise,
      report: () => {},
      createPipe: (bytes) => new FixedLengthStream(bytes),
      manifestFreshMs: 0,
      cacheMaxBytes: 0,
    };
    super(deps);
    this.#deps = deps;
    this.store = store;
    const encoded = locales.map(
      (locale) => [locale, encodeParts(aLocationsResponse(locale))] as const,
    );
    const locals = Object.fromEntries(encoded.map(([locale, parts]) => [locale, parts.locale]));
    const { shared } = encodeParts(aLocationsResponse(""));
    const { blobs, ...parts } = makeParts(shared, locals, { codings, coverage: 1 });
    this.#blobs = blobs;
    this.#manifest = aManifest({
      generation,
      published_at: "2026-11-01T12:34:56.000Z",
      ...parts,
    });
    this.publish({});
  }

  /** The version published last. */
  get manifest(): Manifest {
    return this.#manifest;
  }

  /** The hash of the message that a locale is published as: `Catalog-Sha256`. */
  messageSha256(locale: string): string {
    const entry = this.#manifest.locales[locale];
    if (entry === undefined) throw new Error(`${locale} is not published`);
    return messageSha256(entry);
  }

  /** Publishes a version that differs from the last one, of whose bodies it has some or all. */
  publish(changes: Partial<Manifest>): void {
    this.#manifest = { ...this.#manifest, ...changes };
    this.store.publish({ manifest: this.#manifest, blobs: this.#blobs });
  }

  /** Takes everything into memory, so that no store is asked. */
  async hold(): Promise<void> {
    const cacheMaxBytes = 100_000_000;
    const warm = new CachedCatalogReader({
      ...this.#deps,
      manifestFreshMs: 3_600_000,
      cacheMaxBytes,
    });
    await warm.current();
    for (const locale of Object.keys(this.#manifest.locales))
      for (const representation of REPRESENTATIONS)
        for (const coding of CODINGS) {
          const body = composeBody(this.#manifest, { locale, representation, coding });
          if (body !== undefined) await warm.open({ body, coding });
        }
    this.#warm = warm;
  }

  /** Loses what it holds. */
  forget(): void {
    this.#warm = undefined;
  }

  /** The bytes that a locale is sent as. */
  bytes(locale: string, representation: Representation, coding: AnyCoding): Bytes {
    const body = composeBody(this.#manifest, { locale, representation, coding });
    if (body === undefined) throw new Error(`${locale} is not published as ${representation}`);
    const blobs = new Map(this.#blobs);
    const pieces = body.pieces.map((piece) => {
      if (piece instanceof Uint8Array) return piece;
      const sent = sentBytes(piece, blobs.get(piece.sha256) ?? new Uint8Array());
      return sent.ok ? sent.value : new Uint8Array();
    });
    const binary = Buffer.concat(pieces);
    const text = representation === "grpc-web-text";
    return new Uint8Array(text ? Buffer.from(binary.toString("base64")) : binary);
  }

  override cachedCurrent(): Manifest | undefined {
    return this.currentResult === undefined ? this.#warm?.cachedCurrent() : undefined;
  }

  override cachedContent(body: Body): BodyContent | undefined {
    if (this.#warm === undefined) return undefined;
    if (this.openThrows !== undefined) throw this.openThrows;
    return this.#warm.cachedContent(body);
  }

  override async current(): Promise<CurrentResult> {
    this.currentCalls++;
    return this.currentResult ?? super.current();
  }

  override async open(wanted: BodyToOpen): Promise<OpenResult> {
    this.opened.push(wanted);
    if (this.openMs > 0) await new Promise((resolve) => setTimeout(resolve, this.openMs));
    if (this.openThrows !== undefined) throw this.openThrows;
    return this.openResult ?? super.open(wanted);
  }
}
