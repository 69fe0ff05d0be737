import { Buffer } from "node:buffer";
import {
  brotliDecompressSync,
  constants,
  createBrotliCompress,
  deflateRawSync,
  gunzipSync,
} from "node:zlib";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { concatenate, sha256Hex } from "../../../src/catalog/bytes.ts";
import { encodeLocalePart, FORMS } from "../../../src/catalog/encode.ts";
import {
  canJoin,
  type CompressionInput,
  compressPart,
  type Effort,
  provesLocalePart,
  provesShared,
} from "../../../src/parts/codings.ts";
import { composeBody, REPRESENTATIONS, windowBitsFor } from "../../../src/parts/compose.ts";
import { FRAME_HEADER_BYTES } from "../../../src/parts/framing.ts";
import { CODINGS, type Manifest, type SharedParts } from "../../../src/parts/manifest.ts";
import {
  type HashedBlob,
  hashBlob,
  makeLocaleParts,
  type LocalePartDependencies,
  toPart,
} from "../../../src/ingest/locale-parts.ts";
import { sentBytes } from "../../../src/storage/catalog-store.ts";
import { aCatalog } from "../../builders/catalog.ts";
import { encodeSharedPart } from "../../builders/encode-shared-part.ts";
import { aManifest } from "../../builders/manifest.ts";

/** The shared parts of a form as the encode stage makes them. */
class Shared {
  readonly blobs = new Map<keyof SharedParts, HashedBlob>();
  readonly parts: SharedParts;

  constructor(bytes: Uint8Array, effort: Effort) {
    const windowBits = windowBitsFor(bytes.length);
    const made = (coding: "gzip" | "br", offset: number) =>
      hashBlob(compressPart({ bytes, coding, offset, windowBits, effort }));
    this.blobs.set("identity", hashBlob(bytes));
    this.blobs.set("gzip", made("gzip", 0));
    this.blobs.set("br", made("br", 0));
    this.blobs.set("brInFrame", made("br", FRAME_HEADER_BYTES));
    this.parts = Object.fromEntries(
      [...this.blobs].map(([name, blob]) => [name, toPart(blob)]),
    ) as unknown as SharedParts; // one for each
  }
}

/** What of a locale is made behind shared bytes, and the codings that were compressed. */
async function make(
  local: Uint8Array,
  shared: Shared,
  {
    effort = "fast",
    ...changes
  }: Partial<LocalePartDependencies> & { readonly effort?: Effort } = {},
) {
  const blobs: HashedBlob[] = [];
  const compressed: string[] = [];
  const parts = await makeLocaleParts(local, {
    shared: async (coding) => shared.blobs.get(coding) ?? hashBlob(new Uint8Array()),
    async compress(task) {
      compressed.push(task.coding);
      return compressPart({ effort, ...task });
    },
    earlier: async () => null,
    store: async (blob) => void blobs.push(blob),
    ...changes,
  });
  return { parts, blobs, compressed };
}

const catalog = aCatalog();
const sharedPart = encodeSharedPart(catalog);
const locals = {
  en: encodeLocalePart(catalog.regions, new Map()),
  de: encodeLocalePart(catalog.regions, new Map([["m49:150", { name: "Europa", slug: "europa" }]])),
};

let manifest: Manifest;
let stored: ReadonlyMap<string, Uint8Array>;

beforeAll(async () => {
  const shared = {
    proto: new Shared(sharedPart.proto, "best"),
    json: new Shared(sharedPart.json, "best"),
  };
  const blobs = FORMS.flatMap((form) => [...shared[form].blobs.values()]);
  const entries = [];
  for (const [locale, local] of Object.entries(locals)) {
    const made = {
      proto: await make(local.proto, shared.proto, { effort: "best" }),
      json: await make(local.json, shared.json, { effort: "best" }),
    };
    blobs.push(...made.proto.blobs, ...made.json.blobs);
    const parts = { proto: made.proto.parts, json: made.json.parts };
    entries.push([locale, { coverage: 1, parts }] as const);
  }
  manifest = aManifest({
    shared: { proto: shared.proto.parts, json: shared.json.parts },
    locales: Object.fromEntries(entries),
  });
  stored = new Map(blobs.map(({ sha256, bytes }) => [sha256, bytes]));
});

it("this runtime joins parts in brotli", () => {
  expect(canJoin("br")).toBe(true);
});

describe("makeLocaleParts", () => {
  it("makes parts whose bodies all decode to the same message in each coding, with its digest", () => {
    for (const locale of Object.keys(locals))
      for (const representation of REPRESENTATIONS.filter((name) => name !== "grpc-web-text")) {
        const [br, gzip, identity] = CODINGS.map((coding) => {
          const body = composeBody(manifest, { locale, representation, coding });
          const pieces = (body?.pieces ?? []).map((piece) => {
            if (piece instanceof Uint8Array) return piece;
            const sent = sentBytes(piece, stored.get(piece.sha256) ?? new Uint8Array());
            return sent.ok ? sent.value : new Uint8Array();
          });
          const bytes = Buffer.concat(pieces);
          expect(bytes.length).toBe(body?.bytes);
          const isFramed = representation.startsWith("grpc-web");
          expect(body?.sha256).toBe(isFramed ? null : sha256Hex(bytes));
          return bytes;
        });
        if (br === undefined || gzip === undefined || identity === undefined)
          throw new Error("none");
        expect(brotliDecompressSync(br).equals(identity), `${locale} ${representation}`).toBe(true);
        expect(gunzipSync(gzip).equals(identity), `${locale} ${representation}`).toBe(true);
      }
  });

  const far = new Shared(new Uint8Array(400_000).fill(120), "fast");
  const text = new TextEncoder().encode(
    "the international airport of the capital, the city of the ",
  );
  const local = concatenate(Array(50).fill(text));

  it.each([
    ["other bytes", (bytes: Uint8Array) => bytes.with(2, 1)],
    ["more bytes", (bytes: Uint8Array) => concatenate([bytes, Uint8Array.of(120)])],
    ["fewer bytes", (bytes: Uint8Array) => bytes.subarray(1)],
  ])("refuses a part that decodes to %s, in each coding", async (_, change) => {
    for (const coding of ["gzip", "br"] as const) {
      const compress: LocalePartDependencies["compress"] = async (task) =>
        compressPart({
          effort: "fast",
          ...task,
          bytes: task.coding === coding ? change(task.bytes) : task.bytes,
        });
      await expect(make(local, far, { compress })).rejects.toThrow(
        `a locale part in ${coding} does not decode to its input`,
      );
    }
  });

  it("refuses a part in gzip that refers to bytes before it, or ends the stream", async () => {
    const refused = [
      { dictionary: Buffer.from(text), finishFlush: constants.Z_SYNC_FLUSH },
      { finishFlush: constants.Z_FINISH },
    ];
    for (const options of refused) {
      const compress: LocalePartDependencies["compress"] = async (task) =>
        task.coding === "gzip"
          ? deflateRawSync(task.bytes, options)
          : compressPart({ effort: "fast", ...task });
      await expect(make(local, far, { compress })).rejects.toThrow("in gzip does not decode");
    }
  });

  it.each([0, 120])("refuses a part in brotli that refers to bytes %i before it", async (byte) => {
    const shared = new Uint8Array(400_000).fill(byte);
    const repeated = new Uint8Array(5_000).fill(byte);
    const compress: LocalePartDependencies["compress"] = async (task) => {
      if (task.coding === "gzip") return compressPart({ effort: "fast", ...task });
      const params = { [constants.BROTLI_PARAM_LGWIN]: task.windowBits };
      const stream = createBrotliCompress({ params });
      const flushed = async (some: Uint8Array) => {
        stream.write(some);
        await new Promise<void>((resolve) => stream.flush(resolve));
        return new Uint8Array(stream.read());
      };
      await flushed(shared);
      return flushed(task.bytes);
    };
    await expect(make(repeated, new Shared(shared, "fast"), { compress })).rejects.toThrow(
      "in br does not decode to its input",
    );
  });

  it("refuses a part in brotli with words of its dictionary that was made for another window", async () => {
    const compress: LocalePartDependencies["compress"] = async (task) =>
      compressPart({ effort: "best", ...task, windowBits: 22 });
    await expect(make(local, far, { compress })).rejects.toThrow("in br does not decode");
  });

  // The smallest window has 262,144 bytes.
  it.each(
    (["fast", "best"] as const).flatMap((effort) =>
      [1, 300, 1_100, 140_000, 262_140, 262_144, 270_000, 524_288].map(
        (bytes) => [effort, bytes] as const,
      ),
    ),
  )(
    "at %s makes parts that decode behind %i bytes, with a frame and without",
    async (effort, length) => {
      const shared = new Shared(new Uint8Array(length).fill(120), effort);
      const { parts, blobs } = await make(local, shared, { effort });
      const ofForm = { proto: shared.parts, json: shared.parts };
      const locales = { de: { coverage: 1, parts: { proto: parts, json: parts } } };
      const version = aManifest({ shared: ofForm, locales });
      const known = new Map(
        [...shared.blobs.values(), ...blobs].map((blob) => [blob.sha256, blob.bytes]),
      );
      const plain = concatenate([new Uint8Array(length).fill(120), local]);
      for (const representation of ["proto", "grpc-web"] as const) {
        const body = composeBody(version, { locale: "de", representation, coding: "br" });
        const pieces = (body?.pieces ?? []).map((piece) =>
          piece instanceof Uint8Array ? piece : (known.get(piece.sha256) ?? new Uint8Array()),
        );
        const decoded = brotliDecompressSync(concatenate(pieces));
        const start = representation === "proto" ? 0 : FRAME_HEADER_BYTES;
        expect(decoded.subarray(start, start + plain.length).equals(plain)).toBe(true);
      }
    },
  );

  // Twice as many bytes change the window, and with it the words of brotli's dictionary, which only `best` uses.
  it.each([
    ["fast", "the same airports", 400_000, []],
    ["best", "the same airports", 400_000, []],
    ["best", "an airport more", 400_001, []],
    ["fast", "twice as many", 800_000, []],
    ["best", "twice as many", 800_000, ["br"]],
    ["fast", "a quarter", 100_000, []],
  ] as const)(
    "at %s takes the parts of a version with %s, if they decode here",
    async (effort, _, length, expected) => {
      const before = await make(local, new Shared(new Uint8Array(length).fill(120), effort), {
        effort,
      });
      const earlier: LocalePartDependencies["earlier"] = async (coding) =>
        before.blobs.find(({ sha256 }) => sha256 === before.parts[coding]?.sha256) ?? null;
      const again = await make(local, far, { effort, earlier });
      expect(again.compressed).toEqual(expected);
      expect(again.parts).toEqual((await make(local, far, { effort })).parts);
    },
  );
});

const anyBytes = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 60 }),
  fc
    .tuple(
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 9 }),
      fc.integer({ min: 1, max: 400 }),
    )
    .map(([word, times]) => new TextEncoder().encode(word.repeat(times))),
);

it.each(["gzip", "br"] as const)(
  "parts in %s prove right, and wrong for any other input",
  (coding) => {
    fc.assert(
      fc.property(
        anyBytes,
        fc.nat(1_000),
        fc.constantFrom<Effort>("fast", "best"),
        (bytes, at, effort) => {
          const other = Uint8Array.from(bytes);
          other[at % other.length] = (other[at % other.length] ?? 0) ^ 1;
          const task: CompressionInput = { bytes, coding, offset: 0, windowBits: 18, effort };
          for (const isInFrame of [false, true]) {
            const unit = { coding, isInFrame };
            const part = compressPart({ ...task, offset: isInFrame ? FRAME_HEADER_BYTES : 0 });
            expect(provesShared(unit, part, bytes)).toBe(true);
            expect(provesShared(unit, part, other)).toBe(false);
          }
          const own = compressPart({ ...task, offset: 300_000 });
          expect(provesLocalePart(coding, own, { bytes, sharedBytes: 300_000 })).toBe(true);
          expect(provesLocalePart(coding, own, { bytes: other, sharedBytes: 300_000 })).toBe(false);
        },
      ),
      { numRuns: 30 },
    );
  },
);
