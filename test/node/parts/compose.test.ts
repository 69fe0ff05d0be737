import { brotliDecompressSync, gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import {
  type AnyCoding,
  type Body,
  composeBody,
  isMessageCoding,
  MESSAGE_CODINGS,
  type Representation,
  REPRESENTATIONS,
} from "../../../src/parts/compose.ts";
import { SUCCESS_TRAILER_FRAME } from "../../../src/parts/framing.ts";
import { type Coding, CODINGS, type Manifest } from "../../../src/parts/manifest.ts";
import { sentBytes } from "../../../src/storage/catalog-store.ts";
import { aManifest } from "../../builders/manifest.ts";
import { type MadeParts, makeParts } from "../../builders/parts.ts";

const ALL: readonly AnyCoding[] = [...CODINGS, "grpc-br", "grpc-gzip"];
const anyPart = fc
  .uint8Array({ minLength: 1, maxLength: 300 })
  .map((bytes) => ({ proto: Uint8Array.from(bytes), json: Uint8Array.from([...bytes, 1]) }));

/** Every body of a manifest. */
function* bodiesOf(manifest: Manifest) {
  for (const locale of Object.keys(manifest.locales))
    for (const representation of REPRESENTATIONS)
      for (const coding of ALL) {
        const body = composeBody(manifest, { locale, representation, coding });
        if (body !== undefined) yield { locale, representation, coding, body };
      }
}

/** The bytes that a reader sends. */
function bytesOf({ pieces }: Body, blobs: MadeParts["blobs"]): Buffer {
  const stored = new Map(blobs);
  const sent = pieces.map((piece) => {
    if (piece instanceof Uint8Array) return piece;
    const bytes = sentBytes(piece, stored.get(piece.sha256) ?? new Uint8Array());
    if (!bytes.ok) throw new Error(bytes.detail);
    return bytes.value;
  });
  return Buffer.concat(sent);
}

function decode(coding: Coding, bytes: Buffer): Buffer {
  if (coding === "identity") return bytes;
  return coding === "gzip" ? gunzipSync(bytes) : brotliDecompressSync(bytes);
}

/** The message in a body, as a client of the representation reads it. */
function messageIn(representation: Representation, coding: AnyCoding, body: Buffer): Buffer {
  const plain = isMessageCoding(coding) ? body : decode(coding, body);
  if (representation === "proto" || representation === "json") return plain;
  const end = 5 + plain.readUInt32BE(1);
  expect(plain.subarray(end).equals(SUCCESS_TRAILER_FRAME)).toBe(true);
  expect(plain[0]).toBe(isMessageCoding(coding) ? 1 : 0);
  const message = plain.subarray(5, end);
  return isMessageCoding(coding) ? decode(MESSAGE_CODINGS[coding], message) : message;
}

describe("composeBody", () => {
  it("makes bodies that decode to the message, whatever the parts", () => {
    fc.assert(
      fc.property(anyPart, anyPart, anyPart, (shared, de, en) => {
        const { blobs, ...parts } = makeParts(shared, { de, en });
        const locals = { de, en };
        for (const { locale, representation, coding, body } of bodiesOf(aManifest(parts))) {
          const form = representation.endsWith("json") ? "json" : "proto";
          const bytes = bytesOf(body, blobs);
          const message = messageIn(representation, coding, bytes);
          const localePart = locals[locale as "de" | "en"][form]; // the manifest has these two
          expect(
            message.equals(Buffer.concat([shared[form], localePart])),
            `${representation} ${coding}`,
          ).toBe(true);
          expect(body.bytes).toBe(bytes.length);
          expect([null, sha256Hex(bytes)]).toContain(body.sha256);
        }
      }),
    );
  });

  const part = (text: string) => ({ proto: utf8(text), json: utf8(`{${text}}`) });
  const { shared, locales } = makeParts(part("shared"), { de: part("de"), en: part("en") });
  const manifest = aManifest({ shared, locales });

  it.each([
    ["proto", CODINGS],
    ["json", CODINGS],
    ["grpc-web", ALL],
    ["grpc-web-text", ["identity", "grpc-br", "grpc-gzip"]],
    ["grpc-web-json", ALL],
  ] as const)("makes %s in its codings", (representation, codings) => {
    const made = ALL.filter((coding) =>
      composeBody(manifest, { locale: "de", representation, coding }),
    );
    expect(made).toEqual([...codings]);
  });

  it("gives each body a key of its own, in an entity tag's characters, and a message its hash", () => {
    const all = [...bodiesOf(manifest)].filter(
      ({ representation }) => representation !== "grpc-web-text",
    );
    expect(new Set(all.map(({ body }) => body.key)).size).toBe(all.length);
    for (const { representation, body } of all) {
      expect(body.key).toMatch(/^[\w-]{32,50}$/);
      const isFramed = representation.startsWith("grpc-web");
      expect(body.sha256?.slice(0, 32)).toBe(isFramed ? undefined : body.key);
    }
  });

  it("composes a body once, so that what is cached for it is found again", () => {
    const wanted = { locale: "en", representation: "json", coding: "br" } as const;
    expect(composeBody(manifest, wanted)).toBe(composeBody(manifest, wanted));
    expect(composeBody({ ...manifest }, wanted)).not.toBe(composeBody(manifest, wanted));
    const text = { locale: "en", representation: "grpc-web-text", coding: "identity" } as const;
    expect(composeBody(manifest, text)).toBe(
      composeBody(manifest, { ...text, representation: "grpc-web" }),
    );
  });

  it.each(["fr", "constructor", "__proto__"])("makes no body of the locale %s", (locale) => {
    const wanted = { locale, representation: "proto", coding: "identity" } as const;
    expect(composeBody(manifest, wanted)).toBeUndefined();
  });

  it("makes no body in brotli if the ingest could not", () => {
    const plain = aManifest(makeParts(part("shared"), { de: part("de") }, { codings: ["gzip"] }));
    const codings = [...bodiesOf(plain)].map(({ coding }) => coding);
    expect(new Set(codings)).toEqual(new Set(["gzip", "identity", "grpc-gzip"]));
  });
});

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text));
}
