import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { fromBinary, fromJsonString } from "@bufbuild/protobuf";
import { LocationsResponseSchema } from "../gen/locations/v1/locations_pb.ts";
import { sha256Hex } from "../src/catalog/bytes.ts";

/** An answer as it came over the wire. */
export interface WireAnswer {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly body: Uint8Array;
}

/** Fewest airports that a whole catalog of the world has. */
const MIN_AIRPORTS = 9_000;

/**
 * Checks answers to the byte: each body without a frame has the hash that its ETag names, and each that
 * was not seen before decodes to a whole catalog, whose message has the hash of `Catalog-Sha256`.
 */
export class AnswerCheck {
  readonly #proven = new Set<string>();
  readonly #minAirports: number;

  constructor(minAirports: number = MIN_AIRPORTS) {
    this.#minAirports = minAirports;
  }

  /** Bodies, different from each other, that were decoded. */
  get bodies(): number {
    return this.#proven.size;
  }

  /** Throws an Error that says what is wrong with an answer. */
  check({ status, header, body }: WireAnswer): void {
    if (status !== 200) throw new Error(`status ${status}: ${Buffer.from(body).toString()}`);
    const hash = sha256Hex(body);
    const isFramed = header("content-type")?.startsWith("application/grpc-web");
    if (!isFramed && header("etag") !== `"${hash.slice(0, 32)}"`)
      throw new Error(`a body of ${body.length} bytes is not that of ${header("etag")}`);
    const claim = `${hash} ${header("catalog-sha256")} ${header("content-type")}`;
    if (this.#proven.has(claim)) return;
    const airports = prove(decode(body, header("content-encoding")), header);
    if (airports < this.#minAirports) throw new Error(`a catalog of ${airports} airports`);
    this.#proven.add(claim);
  }
}

function decode(body: Uint8Array, coding: string | undefined): Buffer {
  if (coding === "br") return brotliDecompressSync(body);
  return coding === "gzip" ? gunzipSync(body) : Buffer.from(body);
}

/** Decodes a body, which must be what its headers say; how many airports it has. */
function prove(body: Buffer, header: WireAnswer["header"]): number {
  const type = header("content-type") ?? "";
  const binary = type.includes("-text") ? Buffer.from(body.toString(), "base64") : body;
  const message = type.includes("grpc-web") ? firstFrame(binary) : binary;
  if (type.includes("json"))
    return fromJsonString(LocationsResponseSchema, message.toString()).airports.length;
  if (sha256Hex(message) !== header("catalog-sha256"))
    throw new Error(`a message is not that of ${header("catalog-sha256")}`);
  return fromBinary(LocationsResponseSchema, message).airports.length;
}

function firstFrame(body: Buffer): Buffer {
  const end = 5 + body.readUInt32BE(1);
  if (!body.subarray(end).toString().includes("grpc-status: 0"))
    throw new Error("a gRPC-Web body does not end in status 0");
  return body.subarray(5, end);
}
