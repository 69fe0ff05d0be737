import { createHash } from "node:crypto";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import {
  type LocationsResponse,
  LocationsResponseSchema,
} from "../../gen/locations/v1/locations_pb.ts";
import {
  type Bodies,
  type Body,
  type Coding,
  CODINGS,
  type LocaleEntry,
  type Manifest,
  type Representation,
} from "../../src/catalog/manifest.ts";
import { CachedCatalogReader } from "../../src/storage/cached-catalog-reader.ts";
import type {
  BodyContent,
  CurrentResult,
  OpenResult,
  ReaderDependencies,
  WantedBody,
} from "../../src/storage/catalog-reader.ts";
import { aManifest } from "./manifest.ts";
import { type MemoryCatalogStore, memoryCatalogStore } from "./memory-catalog-store.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes of a body by representation and coding. */
type EncodedBodies = { readonly [R in Representation]: { readonly [C in Coding]: Bytes } };

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

/** Encodes a message in every form that is published, by the protocols' reference code. */
function encodeBodies(message: LocationsResponse): EncodedBodies {
  const proto = new Uint8Array(toBinary(LocationsResponseSchema, message));
  const json = new TextEncoder().encode(toJsonString(LocationsResponseSchema, message));
  const trailer = encodeEnvelope(0x80, new TextEncoder().encode("grpc-status: 0\r\n"));
  const framed = Buffer.concat([encodeEnvelope(0, proto), trailer]);
  const identity: Record<Representation, Uint8Array> = {
    proto,
    json,
    "grpc-web": framed,
    "grpc-web-text": new TextEncoder().encode(framed.toString("base64")),
    "grpc-web-json": Buffer.concat([encodeEnvelope(0, json), trailer]),
  };
  const codings = (bytes: Uint8Array): EncodedBodies[Representation] => ({
    br: new Uint8Array(brotliCompressSync(bytes)),
    gzip: new Uint8Array(gzipSync(bytes)),
    identity: new Uint8Array(bytes),
  });
  const encoded = Object.entries(identity).map(([form, bytes]) => [form, codings(bytes)]);
  return Object.fromEntries(encoded) as EncodedBodies; // of the same forms
}

export interface SmallCatalog {
  readonly locales?: readonly string[];
  readonly generation?: number;
  /** Codings besides identity; both unless told. */
  readonly codings?: readonly Coding[];
}

const LOCALES = ["en", "de", "he", "no", "zh", "zh-Hant"];

/**
 * The real reader over a small catalog in stores in memory. It holds nothing but the manifest until
 * `hold`. It records what it is asked for, and fails or waits on demand.
 */
export class RecordingReader extends CachedCatalogReader {
  readonly store: MemoryCatalogStore;
  readonly opened: WantedBody[] = [];
  currentCalls = 0;
  /** Returned by `current` in place of what the stores have. */
  currentResult: CurrentResult | undefined;
  /** Returned by `open` in place of what the stores have. */
  openResult: OpenResult | undefined;
  /** Thrown by `open` and `cachedContent`: what no well-behaved reader does. */
  openThrows: unknown;
  /** How long `open` takes. */
  openMs = 0;
  readonly #deps: ReaderDependencies;
  readonly #bodies = new Map<string, Bytes>();
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
    this.#manifest = aManifest({
      generation,
      published_at: "2026-11-01T12:34:56.000Z",
      locales: Object.fromEntries(locales.map((locale) => [locale, this.#encode(locale, codings)])),
    });
    this.publish({});
  }

  /** The version published last. */
  get manifest(): Manifest {
    return this.#manifest;
  }

  /** Publishes a version that differs from the last one, of whose bodies it has some or all. */
  publish(changes: Partial<Manifest>): void {
    this.#manifest = { ...this.#manifest, ...changes };
    this.store.publish({ manifest: this.#manifest, blobs: [...this.#bodies] });
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
    for (const { bodies } of Object.values(this.#manifest.locales))
      for (const codings of Object.values(bodies))
        for (const coding of ["identity", ...CODINGS] as const) {
          const body = codings[coding];
          if (body !== undefined) await warm.open({ body, coding });
        }
    this.#warm = warm;
  }

  /** Loses what it holds. */
  forget(): void {
    this.#warm = undefined;
  }

  /** The bytes that a locale is published as. */
  bytes(locale: string, representation: Representation, coding: Coding): Bytes {
    const body = this.#manifest.locales[locale]?.bodies[representation][coding];
    const bytes = body && this.#bodies.get(body.sha256);
    if (bytes === undefined) throw new Error(`${locale} is not published as ${representation}`);
    return bytes;
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

  override async open(wanted: WantedBody): Promise<OpenResult> {
    this.opened.push(wanted);
    if (this.openMs > 0) await new Promise((resolve) => setTimeout(resolve, this.openMs));
    if (this.openThrows !== undefined) throw this.openThrows;
    return this.openResult ?? super.open(wanted);
  }

  #encode(locale: string, codings: readonly Coding[]): LocaleEntry {
    const encoded = encodedBodiesOf(locale);
    const published = ["identity" as const, ...codings];
    const bodiesOf = (codes: EncodedBodies[Representation]) =>
      Object.fromEntries(published.map((coding) => [coding, this.#bodyOf(codes[coding])]));
    return {
      sha256: sha256(encoded.proto.identity),
      bytes: encoded.proto.identity.byteLength,
      coverage: 1,
      own: {},
      bodies: Object.fromEntries(
        Object.entries(encoded).map(([form, codes]) => [form, bodiesOf(codes)]),
      ) as Bodies, // of the same forms
    };
  }

  #bodyOf(content: Bytes): Body {
    const blob = sha256(content);
    this.#bodies.set(blob, content);
    const bytes = content.byteLength;
    return { sha256: blob, bytes, segments: [{ blob, bytes }] };
  }
}

const encodedBodies = new Map<string, EncodedBodies>();

/** Encodes a locale once a test file: compressing takes a while. */
function encodedBodiesOf(locale: string): EncodedBodies {
  const encoded = encodedBodies.get(locale) ?? encodeBodies(aLocationsResponse(locale));
  encodedBodies.set(locale, encoded);
  return encoded;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
