import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { droppedUpstream } from "../../../src/sources/dropped-upstream.ts";
import { decodeFile } from "../../../src/sources/source-file.ts";
import { SourceError } from "../../../src/sources/source-error.ts";
import { fuzzed, UNHURRIED } from "../../builders/fuzzed.ts";
import { mutatedBytes } from "../../builders/mutations.ts";
import { anAirportRow, csvOf, streamOf } from "../../builders/source.ts";

const MAX_BYTES = 100_000;
const NAMES = ["airports.csv", "airports.csv.gz", "regions.csv", "regions.csv.gz"] as const;
const csv = Buffer.from(csvOf([anAirportRow(), anAirportRow({ id: "1" })]));

/** What an operator may have dropped under a name: nothing, a table, one that swells, or anything else. */
const dropped = fc.option(
  fc.oneof(
    fc.constantFrom(csv, gzipSync(csv)).chain(mutatedBytes),
    fc.nat({ max: 2 * MAX_BYTES }).map((length) => gzipSync(Buffer.alloc(length, "a"))),
    fc.nat({ max: 2 * MAX_BYTES }).map((length) => Buffer.alloc(length, "a")),
    fc.uint8Array({ maxLength: 50 }),
  ),
  { nil: undefined, freq: 2 },
);

describe("whatever is dropped", UNHURRIED, () => {
  it("is refused, or is one file of each table, byte for byte, that can be read within the limit", async () => {
    await fc.assert(
      fc.asyncProperty(fc.tuple(dropped, dropped, dropped, dropped), async (contents) => {
        const files = new Map(NAMES.map((name, index) => [name as string, contents[index]]));
        const upstream = droppedUpstream(
          {
            prefix: "drop/",
            async open(name) {
              const bytes = files.get(name);
              if (bytes === undefined) return null;
              const read = () => new Response(streamOf(bytes)).arrayBuffer();
              return { size: bytes.length, droppedAt: new Date(0), read, discard: async () => {} };
            },
          },
          { maxBytes: MAX_BYTES },
        );
        const given = await upstream.fetch().catch((error: unknown) => {
          if (error instanceof SourceError) return [];
          throw error;
        });
        for (const [index, { name, bytes }] of given.entries()) {
          const [plain, packed] = contents.slice(2 * index, 2 * index + 2);
          expect([plain, packed].filter((each) => each !== undefined)).toHaveLength(1);
          expect(Buffer.compare(bytes, plain ?? packed ?? Buffer.of())).toBe(0);
          const text = await new Response(await decodeFile(name, streamOf(bytes))).arrayBuffer();
          expect(text.byteLength).toBeLessThanOrEqual(MAX_BYTES);
        }
      }),
      fuzzed(200),
    );
  });
});
