import { sha256Hex } from "./hash.ts";
import type { Manifest } from "./manifest.ts";
import { parseManifest } from "./parse-manifest.ts";
import { storedManifest } from "./stored-manifest.ts";

/**
 * Serializes a manifest for the stores: JSON, a line feed and the SHA-256 (hex) of the JSON. A
 * blob's key proves its bytes, but a manifest's key is fixed. Without the seal a changed digit would
 * be served, or a wrong generation would keep an isolate from ever updating.
 */
export function sealManifest(manifest: Manifest): string {
  const json = JSON.stringify(storedManifest(manifest));
  return `${json}\n${sha256Hex(json)}`;
}

/** Parses a sealed manifest. */
export function openManifest(text: string): ReturnType<typeof parseManifest> {
  const [json = "", seal] = text.split("\n");
  if (seal !== sha256Hex(json)) return { ok: false, problem: "of another hash than its own" };
  return parseManifest(json);
}

/** Returns the last line of a sealed manifest, unverified. Two intact texts with one seal are equal. */
export function sealOf(text: Uint8Array): string {
  return new TextDecoder().decode(text.subarray(text.lastIndexOf(LINE_FEED) + 1));
}

const LINE_FEED = 0x0a;
