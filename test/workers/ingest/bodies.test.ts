import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers/promises";
import { constants, createBrotliCompress, deflateRawSync, inflateRawSync } from "node:zlib";
import { fromBinary, fromJson } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it } from "vitest";
import { LocationsResponseSchema } from "../../../gen/locations/v1/locations_pb.ts";
import { concatenate, sha256Hex } from "../../../src/catalog/bytes.ts";
import { encodeLocal } from "../../../src/catalog/encode.ts";
import { SUCCESS_TRAILER_FRAME } from "../../../src/parts/framing.ts";
import {
  type Bodies,
  type Body,
  CODINGS,
  type Representation,
  REPRESENTATIONS,
} from "../../../src/parts/manifest.ts";
import {
  type BodyDependencies,
  type HashedBlob,
  commonUnits,
  proveCommon,
  toSegment,
} from "../../../src/ingest/own-parts.ts";
import { compress, type CompressionTask, type Effort } from "../../../src/parts/codings.ts";
import { aCatalog } from "../../builders/catalog.ts";
import { encodeAll, MemoryCommon } from "../../builders/memory-common.ts";
import { decoded, expectSegmentsJoin } from "../../builders/segments.ts";
import { encodeCommon } from "../../builders/encode-common.ts";

const catalog = aCatalog();
const common = encodeCommon(catalog);
const english = encodeLocal(catalog.regions, new Map());
const german = encodeLocal(
  catalog.regions,
  new Map([["m49:150", { name: "Europa", slug: "europa" }]]),
);

let stored: MemoryCommon;
let en: Awaited<ReturnType<typeof encodeAll>>;
let de: Awaited<ReturnType<typeof encodeAll>>;

beforeAll(async () => {
  stored = new MemoryCommon(common);
  en = await encodeAll(english, stored);
  de = await encodeAll(german, stored);
});

/** The body as a reader joins it out of stored blobs and what the manifest holds. */
function join(body: Body, blobs: readonly HashedBlob[], { blobs: shared } = stored): Buffer {
  const bytesOf = new Map([...blobs, ...shared].map((blob) => [blob.sha256, blob.bytes]));
  return Buffer.concat(
    body.segments.map((segment) => {
      if ("inline" in segment) return Buffer.from(segment.inline, "base64");
      const bytes = bytesOf.get(segment.blob) ?? new Uint8Array();
      const finishFlush = constants.Z_SYNC_FLUSH;
      const sent = segment.isDeflated ? inflateRawSync(bytes, { finishFlush }) : bytes;
      expect(sent.length).toBe(segment.bytes);
      return sent;
    }),
  );
}

/** The message in a body that was sent uncompressed, as a client of the representation reads it. */
function messageIn(representation: Representation, body: Buffer) {
  switch (representation) {
    case "proto":
      return fromBinary(LocationsResponseSchema, Uint8Array.from(body));
    case "json":
      return fromJson(LocationsResponseSchema, JSON.parse(body.toString()));
    case "grpc-web":
      return fromBinary(LocationsResponseSchema, unframed(body));
    case "grpc-web-text":
      return fromBinary(LocationsResponseSchema, unframed(Buffer.from(body.toString(), "base64")));
    case "grpc-web-json":
      return fromJson(LocationsResponseSchema, JSON.parse(Buffer.from(unframed(body)).toString()));
    default:
      return representation satisfies never;
  }
}

/** The message of a gRPC-Web body: one message frame, and the trailers of a success. */
function unframed(body: Buffer): Uint8Array {
  const end = 5 + body.readUInt32BE(1);
  if (body[0] !== 0 || !body.subarray(end).equals(SUCCESS_TRAILER_FRAME))
    throw new Error("not a message frame and the trailers of a success");
  return Uint8Array.from(body.subarray(5, end));
}

function* bodiesOf(bodies: Bodies) {
  for (const representation of REPRESENTATIONS)
    for (const coding of CODINGS) {
      const body = bodies[representation][coding];
      if (body !== undefined) yield { representation, coding, body };
    }
}

it.each(CODINGS)("segments in %s decode to the whole text, wherever it is cut", (coding) => {
  expectSegmentsJoin(coding);
});

describe("encodeBodies", () => {
  it("makes every representation in every coding, in the order of all manifests", () => {
    for (const representation of REPRESENTATIONS)
      expect(Object.keys(en.bodies[representation])).toEqual(["br", "gzip", "identity"]);
  });

  it("makes bodies that all decode to the locale's message", () => {
    for (const [{ bodies, blobs }, local] of [
      [en, english],
      [de, german],
    ] as const) {
      const message = fromBinary(LocationsResponseSchema, concatenate([common.proto, local.proto]));
      for (const { representation, coding, body } of bodiesOf(bodies)) {
        const plain = decoded(coding, join(body, blobs));
        expect(messageIn(representation, plain), `${representation} ${coding}`).toEqual(message);
      }
    }
  });

  it("names each body without a frame by its hash, every one by a name of its own, and its length", () => {
    const all = [...bodiesOf(de.bodies), ...bodiesOf(en.bodies)];
    expect(new Set(all.map(({ body }) => body.sha256)).size).toBe(all.length);
    for (const { representation, coding, body } of bodiesOf(de.bodies)) {
      const bytes = join(body, de.blobs);
      const isFramed = representation.startsWith("grpc-web");
      const described = { bytes: bytes.length, ...(!isFramed && { sha256: sha256Hex(bytes) }) };
      expect(body, `${representation} ${coding}`).toMatchObject(described);
    }
  });

  it("shares only the common blobs among locales", () => {
    const shared = new Set(en.blobs.map(({ sha256 }) => sha256));
    for (const { sha256 } of de.blobs) expect(shared.has(sha256)).toBe(false);
    for (const unit of commonUnits())
      for (const { bodies } of [en, de])
        expect(bodies[unit.representation][unit.coding]?.segments).toContainEqual(
          toSegment(stored.segment(unit)),
        );
  });

  it("stores the blobs of each representation before it makes those of the next", async () => {
    const calls: string[] = [];
    await encodeAll(german, stored, {
      async common(unit) {
        if (unit.coding === "gzip") calls.push(`encode ${unit.representation}`);
        return stored.segment(unit);
      },
      async store() {
        await setImmediate();
        calls.push("store");
      },
    });
    expect(calls).toEqual(
      REPRESENTATIONS.flatMap((representation) => [`encode ${representation}`, "store"]),
    );
  });

  it.each(["gzip", "br"] as const)(
    "refuses a common segment in %s that decodes to other bytes",
    (coding) => {
      const unit = { representation: "json", coding } as const;
      const { bytes } = stored.segment(unit);
      expect(() => proveCommon(unit, bytes, common.json)).not.toThrow();
      const json = Uint8Array.from(common.json);
      json[2] = (json[2] ?? 0) ^ 1;
      expect(() => proveCommon(unit, bytes, json)).toThrow(
        `json in ${coding} does not decode to its input`,
      );
    },
  );

  it.each(["gzip", "br"] as const)(
    "refuses a segment of a locale in %s that decodes to other bytes",
    async (coding) => {
      const compressOther = async (task: Omit<CompressionTask, "effort">) => {
        const bytes = Uint8Array.from(task.bytes);
        if (task.coding === coding) bytes[2] = (bytes[2] ?? 0) ^ 1;
        return compress({ ...task, bytes, effort: "fast" });
      };
      await expect(encodeAll(english, stored, { compress: compressOther })).rejects.toThrow(
        `proto in ${coding} does not decode to its input`,
      );
    },
  );

  it.each(["gzip", "br"] as const)(
    "refuses a segment of a locale in %s that decodes to more",
    async (coding) => {
      const compressMore = async (task: Omit<CompressionTask, "effort">) => {
        const bytes =
          task.coding === coding ? concatenate([task.bytes, Uint8Array.of(120)]) : task.bytes;
        return compress({ ...task, bytes, effort: "fast" });
      };
      await expect(encodeAll(english, stored, { compress: compressMore })).rejects.toThrow(
        `proto in ${coding} does not decode to its input`,
      );
    },
  );

  it("refuses a segment of a locale that refers to bytes before it", async () => {
    const options = { dictionary: common.proto, finishFlush: constants.Z_SYNC_FLUSH };
    const compressOther = async (task: Omit<CompressionTask, "effort">) =>
      task.coding === "gzip"
        ? deflateRawSync(task.bytes, options)
        : compress({ ...task, effort: "fast" });
    await expect(encodeAll(english, stored, { compress: compressOther })).rejects.toThrow(
      "proto in gzip does not decode to its input",
    );
  });
});

describe("encodeBodies behind a long common part", () => {
  const far = new Uint8Array(400_000).fill(120);
  const text = new TextEncoder().encode(
    "the international airport of the capital, the city of the ",
  );
  const local = {
    proto: concatenate(Array(50).fill(text)),
    json: concatenate(Array(60).fill(text)),
  };

  /** How many segments in brotli are made, and the bodies. */
  async function encodeFar(effort: Effort, changes: Partial<BodyDependencies> = {}, shared = far) {
    let made = 0;
    const there = new MemoryCommon({ proto: shared, json: shared }, effort);
    const result = await encodeAll(local, there, {
      async compress(task) {
        if (task.coding === "br") made += 1;
        return compress({ ...task, effort });
      },
      ...changes,
    });
    return { ...result, made, there };
  }

  // The encoder's least window is of 262,144 bytes.
  it.each(
    (["fast", "best"] as const).flatMap((effort) =>
      [300, 1_100, 40_000, 140_000, 262_140, 262_144, 270_000, 524_288].map(
        (bytes) => [effort, bytes] as const,
      ),
    ),
  )(
    "at %s makes segments in brotli that decode behind %i bytes, one for each form if they are far",
    async (effort, length) => {
      const shared = new Uint8Array(length).fill(120);
      const { bodies, blobs, made, there } = await encodeFar(effort, {}, shared);
      expect(made).toBe(length < 262_144 ? 5 : 3);
      for (const { representation, coding, body } of bodiesOf(bodies)) {
        const plain = decoded(coding, join(body, blobs, there));
        const { identity } = bodies[representation];
        const whole = identity && join(identity, blobs, there);
        expect(whole?.equals(plain), `${representation} ${coding}`).toBe(true);
      }
    },
  );

  // One more byte before it changes what is written in base64, three more do not. Twice as many change the
  // window, and with it the words of brotli's dictionary, which only `best` uses, and never in base64.
  it.each([
    ["fast", "the same airports", far.length, 0],
    ["best", "the same airports", far.length, 0],
    ["fast", "an airport more", far.length + 1, 1],
    ["best", "an airport more", far.length + 1, 1],
    ["fast", "twice as many", far.length * 2, 1],
    ["best", "twice as many", far.length * 2, 3],
    ["fast", "a quarter", far.length / 4, 0],
    ["best", "a quarter", far.length / 4, 2],
  ] as const)(
    "at %s takes the segments of a version with %s, if they decode here",
    async (effort, _, length, expected) => {
      const shared = new Uint8Array(length).fill(120);
      const before = new MemoryCommon({ proto: shared, json: shared }, effort);
      const { bodies, blobs } = await encodeAll(local, before);
      const earlier: BodyDependencies["earlier"] = async (place) => {
        if ("own" in place) return null;
        const body = bodies[place.representation][place.coding];
        const named = body?.segments.flatMap((segment) => ("blob" in segment ? segment.blob : []));
        return blobs.find(({ sha256 }) => sha256 === named?.[1]) ?? null;
      };
      const { made, ...again } = await encodeFar(effort, { earlier });
      expect(made).toBe(expected);
      expect(again.bodies).toEqual((await encodeFar(effort)).bodies);
    },
  );

  it.each([0, 120])(
    "refuses a segment in brotli that refers to bytes %i before it",
    async (byte) => {
      const repeated = new Uint8Array(5_000).fill(byte);
      const shared = new Uint8Array(far.length).fill(byte);
      const there = new MemoryCommon({ proto: shared, json: shared }, "fast");
      const behind = async (bytes: Uint8Array, windowBits: number) => {
        const params = { [constants.BROTLI_PARAM_LGWIN]: windowBits };
        const stream = createBrotliCompress({ params });
        const flushed = async (some: Uint8Array) => {
          stream.write(some);
          await new Promise<void>((resolve) => stream.flush(resolve));
          return new Uint8Array(stream.read());
        };
        await flushed(shared);
        return flushed(bytes);
      };
      const made = encodeAll({ proto: repeated, json: repeated }, there, {
        compress: async (task) =>
          task.coding === "br"
            ? behind(task.bytes, task.windowBits)
            : compress({ ...task, effort: "fast" }),
      });
      await expect(made).rejects.toThrow("proto in br does not decode to its input");
    },
  );

  it("refuses a segment with words of brotli's dictionary that was made for another window", async () => {
    const other = encodeFar("best", {
      compress: async (task) => compress({ ...task, windowBits: 22, effort: "best" }),
    });
    await expect(other).rejects.toThrow("proto in br does not decode to its input");
  });
});
