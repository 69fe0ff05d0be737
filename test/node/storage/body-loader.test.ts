import { constants, deflateRawSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import type { Body } from "../../../src/parts/compose.ts";
import { tryReadBody } from "../../../src/storage/catalog-store.ts";
import { BodyLoader } from "../../../src/storage/body-loader.ts";
import { blobKey } from "../../../src/storage/keys.ts";
import { StoreReads } from "../../../src/storage/store-reads.ts";
import { aManifest } from "../../builders/manifest.ts";
import { ReaderWorld } from "../../builders/reader-world.ts";

/** Bytes of each part; a body has one that all have in common, and one of its own. */
const PART_BYTES = 1_000;
const LOCALES = ["ar", "de", "en", "fr", "ja", "ko"];
/** Room for all parts, and for four joined bodies, which are fewer than there are. */
const CACHE_MAX_BYTES = 32_000;

const partOf = (name: string) => new TextEncoder().encode(name.padEnd(PART_BYTES, "."));

function bodyOf(locale: string): Body {
  return bodyFrom(["shared", locale]);
}

function bodyFrom(names: readonly string[]): Body {
  const parts = names.map(partOf);
  const pieces = parts.map((part) => ({ sha256: sha256Hex(part), bytes: part.length }));
  const sha256 = sha256Hex(...parts);
  return { key: sha256, sha256, bytes: names.length * PART_BYTES, pieces };
}

let world: ReaderWorld;
let loader: BodyLoader;

beforeEach(() => {
  world = new ReaderWorld({ cacheMaxBytes: CACHE_MAX_BYTES });
  loader = new BodyLoader(world.deps, new StoreReads(world.deps));
  const blobs = ["shared", ...LOCALES].map((name) => {
    const bytes = partOf(name);
    return [sha256Hex(bytes), bytes] as const;
  });
  world.store.publish({ manifest: aManifest(), blobs });
});

/** Asks for a body as a request does: from memory, or else from the stores. */
async function ask(locale: string): Promise<void> {
  const body = bodyOf(locale);
  const copy = await loader.load({ body, coding: "br" });
  const content = loader.cached(body) ?? (copy.ok ? copy.value.content : undefined);
  if (content === undefined) throw new Error(`${locale} cannot be read`);
  const bytes = new Uint8Array(await new Response(content.stream()).arrayBuffer());
  expect(sha256Hex(bytes)).toBe(body.sha256);
  expect(content.size).toBe(bytes.length);
}

describe("bodies in memory", () => {
  it("cost one read each for clients that take turns, even if not all fit joined", async () => {
    for (let round = 0; round < 3; round++) for (const locale of LOCALES) await ask(locale);
    expect(world.store.calls).toHaveLength(1 + LOCALES.length);
  });

  it("stay joined if they are requested again before others have filled the memory", async () => {
    const body = bodyOf("de");
    await loader.load({ body, coding: "br" });
    const joined = loader.cached(body);
    expect(joined).toBeInstanceOf(Blob);
    expect(loader.cached(body)).toBe(joined);
  });

  it("stay in pieces for a client that requests more than fits", async () => {
    const bodies = LOCALES.map(bodyOf);
    for (const body of bodies) await loader.load({ body, coding: "br" });
    for (const body of [...bodies, ...bodies]) {
      const content = loader.cached(body);
      expect(content).toBeDefined();
      expect(content).not.toBeInstanceOf(Blob);
    }
  });
});

describe("a client that goes through more uncompressed bodies than fit", () => {
  it("evicts no compressed one, and may use the remaining memory", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `plain ${index}`);
    const blobs = names.map((name) => [sha256Hex(partOf(name)), partOf(name)] as const);
    world.store.publish({ manifest: aManifest(), blobs });
    for (const locale of LOCALES) await loader.load({ body: bodyOf(locale), coding: "br" });
    const bodies = names.map((name) => bodyFrom([name]));
    for (const body of bodies) await loader.load({ body, coding: "identity" });
    expect(LOCALES.map(bodyOf).every((body) => loader.cached(body) !== undefined)).toBe(true);
    expect(bodies.slice(-17).every((body) => loader.cached(body) !== undefined)).toBe(true);
  });
});

describe("a part in gzip", () => {
  it("is inflated once, for the bodies without a coding, and stays as it is for those in gzip", async () => {
    const plain = partOf("plain");
    const deflated = deflateRawSync(plain, { finishFlush: constants.Z_SYNC_FLUSH });
    const sha256 = sha256Hex(deflated);
    world.store.publish({ manifest: aManifest(), blobs: [[sha256, deflated]] });
    const wanted = [
      { coding: "identity", piece: { isInflated: true }, is: plain },
      { coding: "gzip", piece: {}, is: deflated },
    ] as const;
    for (const { coding, piece, is } of [...wanted, ...wanted]) {
      const bytes = is.length;
      const body = { key: coding, sha256: null, bytes, pieces: [{ sha256, bytes, ...piece }] };
      const copy = await loader.load({ body, coding });
      if (!copy.ok) throw new Error(copy.detail);
      const sent = new Uint8Array(await new Response(copy.value.content.stream()).arrayBuffer());
      expect(Buffer.from(sent).equals(is)).toBe(true);
    }
    expect(world.store.calls).toHaveLength(wanted.length);
  });

  it.each([
    ["is none", partOf("plain"), PART_BYTES],
    ["inflates to another length", deflateRawSync(partOf("plain")), 1],
  ])("makes a body corrupt if it %s", async (_, stored, bytes) => {
    const sha256 = sha256Hex(stored);
    world.store.publish({ manifest: aManifest(), blobs: [[sha256, stored]] });
    const pieces = [{ sha256, bytes, isInflated: true as const }];
    const body = { key: "plain", sha256: null, bytes, pieces };
    const copy = await loader.load({ body, coding: "identity" });
    expect(copy).toMatchObject({ ok: false, fault: "corrupt" });
    expect(await tryReadBody(world.store, body)).toEqual(copy);
  });
});

describe("a part that several bodies need", () => {
  it("costs one read, even if all of them are loaded at the same time", async () => {
    const copies = await Promise.all(
      [...LOCALES, ...LOCALES].map((at) => loader.load({ body: bodyOf(at), coding: "br" })),
    );
    expect(copies.every((copy) => copy.ok)).toBe(true);
    expect(world.store.calls).toHaveLength(1 + LOCALES.length);
  });

  it("makes a body unreadable rather than lost if another part may still exist", async () => {
    world.store.kv.clear();
    world.store.r2.delete(blobKey(sha256Hex(partOf("shared"))));
    world.breakCalls(`r2 get ${blobKey(sha256Hex(partOf("de")))}`);
    expect(await loader.load({ body: bodyOf("de"), coding: "br" })).toMatchObject({
      ok: false,
      fault: "unreadable",
    });
  });
});

describe("the origin of a body", () => {
  it("names the farthest store that a part was read from", async () => {
    const originOf = async (locale: string) => {
      const copy = await loader.load({ body: bodyOf(locale), coding: "br" });
      return copy.ok ? copy.value.origin : copy.fault;
    };
    expect(await originOf("de")).toBe("kv");
    expect(await originOf("de")).toBe("memory");
    world.store.kv.delete(blobKey(sha256Hex(partOf("fr"))));
    expect(await originOf("fr")).toBe("r2");
  });
});

describe("a client that disconnects during its response", () => {
  it("disturbs nobody else", async () => {
    const copy = await loader.load({ body: bodyOf("de"), coding: "br" });
    if (!copy.ok) throw new Error(copy.detail);
    await copy.value.content.stream().cancel();
    await expect(ask("de")).resolves.toBeUndefined();
  });
});
