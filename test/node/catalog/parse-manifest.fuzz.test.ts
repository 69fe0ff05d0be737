import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Body, LocaleEntry } from "../../../src/catalog/manifest.ts";
import { parseManifest } from "../../../src/catalog/parse-manifest.ts";
import { storedManifest } from "../../../src/catalog/stored-manifest.ts";
import { FOUND_IN_MANIFESTS } from "../../cases/found-by-fuzzing.ts";
import { fuzzed, UNHURRIED } from "../../builders/fuzzed.ts";
import { changed, damagedManifest, publishedManifest } from "../../builders/manifest-mutations.ts";

const { manifest } = await publishedManifest();
const stored = storedManifest(manifest);

/** What is right, said a second time and in other words. */
const count = z.int().min(0);
const sha256 = z.hash("sha256").lowercase();
const segment = z.union([
  z.object({ blob: sha256, bytes: count }),
  z.object({ inline: z.base64() }),
]);
const body = z.object({ sha256, bytes: count, segments: z.array(segment) });
const codings = z.object({ identity: body, gzip: body.optional(), br: body.optional() });
const right = z.object({
  format: z.literal(1),
  generation: count,
  published_at: z.string().refine((text) => !Number.isNaN(new Date(text).getTime())),
  catalog_sha256: sha256,
  sources: z.record(z.string(), sha256),
  counts: z.object({ airports: count, cities: count, countries: count, regions: count }),
  previous: count.nullable(),
  locales: z
    .record(
      z.string(),
      z.object({
        sha256,
        bytes: count,
        coverage: z.number().min(0).max(1),
        bodies: z.object({
          proto: codings,
          json: codings,
          "grpc-web": codings,
          "grpc-web-text": codings,
          "grpc-web-json": codings,
        }),
      }),
    )
    .refine((locales) => Object.keys(locales).length > 0),
});

/** The bodies whose segments have another length, or those of a locale that is another message. */
function contradictions({ bodies, sha256: message, bytes }: LocaleEntry): Body[] {
  const all = Object.values(bodies).flatMap((published) => Object.values(published));
  const { identity } = bodies.proto;
  const isMessage = identity?.sha256 === message && identity.bytes === bytes;
  return [...all.filter((one) => lengthOf(one) !== one.bytes), ...(isMessage ? [] : all)];
}

function lengthOf({ segments }: Body): number {
  const lengths = segments.map((part) =>
    "inline" in part ? Buffer.from(part.inline, "base64").length : part.bytes,
  );
  return lengths.reduce((sum, length) => sum + length, 0);
}

describe("parseManifest, given a published manifest that was damaged,", UNHURRIED, () => {
  it("reads the undamaged one", () => {
    expect(parseManifest(JSON.stringify(stored))).toEqual({ ok: true, manifest });
    expect(right.safeParse(manifest).success).toBe(true);
  });

  it("never throws, and takes only what is wholly right", () => {
    const found = FOUND_IN_MANIFESTS.map(([path, value]): [string] => [
      JSON.stringify(changed(stored, path.split("."), value)),
    ]);
    fc.assert(
      fc.property(damagedManifest(stored), (text) => {
        const parsed = parseManifest(text);
        fc.pre(parsed.ok);
        expect(right.safeParse(parsed.manifest).error).toBeUndefined();
        expect(Object.values(parsed.manifest.locales).flatMap(contradictions)).toEqual([]);
      }),
      fuzzed(300, found),
    );
  });
});
