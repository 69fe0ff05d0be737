import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/hash.ts";
import { CODINGS, type Manifest, REPRESENTATIONS } from "../../../src/catalog/manifest.ts";
import { MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { fuzzed, UNHURRIED } from "../../builders/fuzzed.ts";
import { damagedManifest, publishedManifest } from "../../builders/manifest-mutations.ts";
import { ReaderWorld } from "../../builders/reader-world.ts";

const { manifest, world: published } = await publishedManifest();
const patient = { signal: new AbortController().signal };

/** SHA-256 of every body that was published in a representation and coding. */
function hashesOf(
  { locales }: Manifest,
  representation: (typeof REPRESENTATIONS)[number],
): string[] {
  return Object.values(locales).flatMap(({ bodies }) =>
    Object.values(bodies[representation]).map(({ sha256 }) => sha256),
  );
}
const everyHash = REPRESENTATIONS.flatMap((representation) => hashesOf(manifest, representation));

describe("a manifest that was damaged in both stores", UNHURRIED, () => {
  it("never lets a byte be served that was not published", async () => {
    await fc.assert(
      fc.asyncProperty(
        damagedManifest(manifest),
        fc.constantFrom(...REPRESENTATIONS),
        fc.constantFrom(...CODINGS),
        async (text, representation, coding) => {
          const world = new ReaderWorld({ cacheMaxBytes: 100_000 });
          for (const replica of ["kv", "r2"] as const) {
            for (const [key, bytes] of published.store[replica])
              world.store[replica].set(key, bytes);
            world.store[replica].set(MANIFEST_KEY, new Uint8Array(new TextEncoder().encode(text)));
          }
          const current = await world.reader.current(patient);
          fc.pre(current.ok);
          for (const locale of Object.keys(current.manifest.locales)) {
            const codings = [coding, "identity"] as const;
            const selection = { manifest: current.manifest, locale, representation, codings };
            const result = await world.reader.open(selection, patient);
            if (!result.ok) continue;
            const { content, body } = result.opened;
            const served = sha256Hex(new Uint8Array(await content.arrayBuffer()));
            expect(everyHash).toContain(served);
            expect([body.sha256, body.bytes]).toEqual([served, content.size]);
          }
          await world.settle();
        },
      ),
      fuzzed(300),
    );
  });
});
