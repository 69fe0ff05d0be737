import { sha256Hex } from "./hash.ts";
import type { Manifest } from "./manifest.ts";
import { parseManifest } from "./parse-manifest.ts";

/**
 * A manifest as the stores keep it: JSON, a line feed, and the SHA-256 (hex) of the JSON. A blob is
 * proven by its name; a manifest has a fixed one, and a digit that was changed in it would be served,
 * or as a generation hold an isolate back for ever.
 */
export function sealManifest(manifest: Manifest): string {
  const json = JSON.stringify(manifest);
  return `${json}\n${sha256Hex(json)}`;
}

/** Reads what `sealManifest` made, or the JSON alone, as it was once kept. */
export function openManifest(text: string): ReturnType<typeof parseManifest> {
  const [json = "", seal] = text.split("\n");
  if (seal !== undefined && seal !== sha256Hex(json))
    return { ok: false, problem: "of another hash than its own" };
  return parseManifest(json);
}
