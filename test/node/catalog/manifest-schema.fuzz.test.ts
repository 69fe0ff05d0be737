import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Body, type LocaleEntry, toStored } from "../../../src/catalog/manifest.ts";
import { manifestSchema } from "../../../src/catalog/manifest-schema.ts";
import { parseJson } from "../../../src/parse-json.ts";
import { FOUND_IN_MANIFESTS } from "../../cases/found-by-fuzzing.ts";
import { fuzzed, UNHURRIED } from "../../builders/fuzzed.ts";
import { changed, damagedManifest, publishedManifest } from "../../builders/manifest-mutations.ts";

const { manifest } = await publishedManifest();
const stored = toStored(manifest);

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

describe("manifestSchema, given a damaged manifest,", UNHURRIED, () => {
  it("accepts the undamaged manifest", () => {
    expect(manifestSchema.parse(stored)).toEqual(manifest);
  });

  it("never throws, and accepts only a manifest that it can store again without a contradiction", () => {
    const found = FOUND_IN_MANIFESTS.map(([path, value]): [string] => [
      JSON.stringify(changed(stored, path.split("."), value)),
    ]);
    fc.assert(
      fc.property(damagedManifest(stored), (text) => {
        const parsed = manifestSchema.safeParse(parseJson(text));
        fc.pre(parsed.success);
        expect(manifestSchema.parse(toStored(parsed.data))).toEqual(parsed.data);
        expect(Object.values(parsed.data.locales).flatMap(contradictions)).toEqual([]);
      }),
      fuzzed(300, found),
    );
  });
});
