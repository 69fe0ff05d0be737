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
import type { SentBody } from "../../src/catalog/find-body.ts";
import type { Copy, CopyFault } from "../../src/storage/catalog-store.ts";
import type {
  CatalogMemory,
  CatalogReader,
  CurrentResult,
  OpenResult,
  Origin,
  WantedBody,
} from "../../src/storage/catalog-reader.ts";

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

export interface FakeCatalog {
  readonly locales?: readonly string[];
  readonly generation?: number;
  readonly publishedAt?: string;
  /** Codings besides identity; both unless told. */
  readonly codings?: readonly Coding[];
}

/**
 * A fake of the storage room: holds a published catalog in memory, records what it is asked for,
 * and fails or waits on demand.
 */
export class FakeCatalogReader implements CatalogReader, CatalogMemory {
  readonly manifest: Manifest;
  readonly opened: WantedBody[] = [];
  currentCalls = 0;
  /** Returned by `current` in place of the manifest. */
  currentResult: CurrentResult | undefined;
  /** Returned by `open` in place of a body. */
  openResult: OpenResult | undefined;
  /** Thrown by `open` and `heldContent`: what no well-behaved reader does. */
  openThrows: unknown;
  /** How long `open` takes. */
  openMs = 0;
  /** Where `open` reads from. */
  origin: Origin = "kv";
  /** Whether it is all in memory, so that no store is asked. */
  holds = false;
  readonly #bodies = new Map<string, Bytes>();

  constructor({
    locales = ["en", "de", "he", "no", "zh", "zh-Hant"],
    generation = 7,
    publishedAt = "2026-11-01T12:34:56.000Z",
    codings = CODINGS,
  }: FakeCatalog = {}) {
    this.manifest = {
      format: 1,
      generation,
      published_at: publishedAt,
      catalog_sha256: sha256(new TextEncoder().encode(locales.join())),
      sources: {},
      as_of: null,
      data: [],
      airport_set: "all",
      diffs: [],
      counts: { airports: 1, cities: 1, countries: 1, regions: 1 },
      previous: null,
      locales: Object.fromEntries(
        locales.map((locale) => [locale, this.#publish(locale, codings)]),
      ),
    };
  }

  /** The bytes that a locale is published as. */
  bytes(locale: string, representation: Representation, coding: Coding): Bytes {
    const body = this.manifest.locales[locale]?.bodies[representation][coding];
    const bytes = body && this.#bodies.get(body.sha256);
    if (bytes === undefined) throw new Error(`${locale} is not published as ${representation}`);
    return bytes;
  }

  heldCurrent(): Manifest | undefined {
    const current = this.#current();
    return this.holds && current.ok ? current.manifest : undefined;
  }

  heldContent(body: SentBody): Blob | undefined {
    if (!this.holds) return undefined;
    if (this.openThrows !== undefined) throw this.openThrows;
    return this.#contentOf(body);
  }

  /** Versions before `manifest`, the newest first. */
  older: readonly FakeCatalogReader[] = [];

  /** Returned by `newest` in place of what is current. */
  newestResult: CurrentResult | undefined;

  async newest(): Promise<CurrentResult> {
    return this.newestResult ?? this.#current();
  }

  async findOlder(isWanted: (manifest: Manifest) => boolean): Promise<Copy<Manifest>> {
    const older = this.older.find(({ manifest }) => isWanted(manifest));
    return older === undefined
      ? { ok: false, fault: this.olderFault, detail: "no such version" }
      : { ok: true, value: older.manifest };
  }

  /** Whether the manifests of older versions have been collected, unlike this isolate's copies. */
  isCollected = false;

  async isListed(): Promise<boolean> {
    return !this.isCollected;
  }

  /** Fault of `findOlder` where there is no such version. */
  olderFault: CopyFault["fault"] = "missing";

  #contentOf({ segments }: SentBody): Blob | undefined {
    const parts = segments.map((segment) => {
      if ("template" in segment) return undefined; // it publishes none
      return "inline" in segment
        ? Buffer.from(segment.inline, "base64")
        : this.#stored(segment.blob);
    });
    return parts.includes(undefined)
      ? undefined
      : new Blob(parts.filter((part) => part !== undefined));
  }

  #stored(key: string): Bytes | undefined {
    const held = this.#bodies.get(key);
    if (held !== undefined) return held;
    for (const older of this.older) {
      const bytes = older.#stored(key);
      if (bytes !== undefined) return bytes;
    }
    return undefined;
  }

  async current(): Promise<CurrentResult> {
    this.currentCalls++;
    return this.#current();
  }

  async open(wanted: WantedBody): Promise<OpenResult> {
    this.opened.push(wanted);
    if (this.openMs > 0) await new Promise((resolve) => setTimeout(resolve, this.openMs));
    if (this.openThrows !== undefined) throw this.openThrows;
    if (this.openResult !== undefined) return this.openResult;
    const content = this.#contentOf(wanted.body);
    if (content === undefined) return { ok: false, reason: "data_loss" };
    return { ok: true, content, origin: this.origin };
  }

  #current(): CurrentResult {
    return this.currentResult ?? { ok: true, manifest: this.manifest };
  }

  #publish(locale: string, codings: readonly Coding[]): LocaleEntry {
    const encoded = encodedBodiesOf(locale);
    const published = ["identity" as const, ...codings];
    const bodiesOf = (codes: EncodedBodies[Representation]) =>
      Object.fromEntries(published.map((coding) => [coding, this.#store(codes[coding])]));
    return {
      sha256: sha256(encoded.proto.identity),
      bytes: encoded.proto.identity.byteLength,
      coverage: 1,
      bodies: Object.fromEntries(
        Object.entries(encoded).map(([form, codes]) => [form, bodiesOf(codes)]),
      ) as Bodies, // of the same forms
    };
  }

  #store(bytes: Bytes): Body {
    const key = sha256(bytes);
    this.#bodies.set(key, bytes);
    return {
      sha256: key,
      bytes: bytes.byteLength,
      segments: [{ blob: key, bytes: bytes.byteLength }],
    };
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
