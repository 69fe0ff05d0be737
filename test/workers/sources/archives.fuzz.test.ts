import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeFile, nameFile } from "../../../src/sources/source-file.ts";
import { SourceError } from "../../../src/sources/source-error.ts";
import { fuzzed, UNHURRIED } from "../../builders/fuzzed.ts";
import { joined, mutatedBytes } from "../../builders/mutations.ts";
import { anAirportRow, csvOf, streamOf } from "../../builders/source.ts";

const MAX_BYTES = 200_000;
const member = new Uint8Array(gzipSync(csvOf([anAirportRow(), anAirportRow({ id: "1" })])));

const zeros = new Uint8Array(gzipSync(Buffer.alloc(64 * 1024 * 1024)));

/** Gzip in one member or several, with garbage before, between or after them, damaged or whole. */
const archives = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constant(member) },
      fc.uint8Array({ maxLength: 20 }),
      fc.integer({ min: 0, max: 2 * MAX_BYTES }).map((length) => gzipSync(Buffer.alloc(length))),
      fc
        .constantFrom("gzip", "id,name\n1,x\n", "<html>", "\ufeff", " \n")
        .map((text) => Buffer.from(text)),
    ),
    { maxLength: 3 },
  )
  .chain((parts) => mutatedBytes(joined(...parts)));

it("a gzip bomb is rejected at the limit, before it fills the isolate's memory", () => {
  // A gibibyte: eight times what the isolate may hold.
  const bytes = joined(...Array.from({ length: 16 }, () => zeros));
  const file = { where: "bomb.csv", bytes, maxBytes: MAX_BYTES };
  expect(() => nameFile("airports.csv", file)).toThrow("larger than the limit");
});

describe("arbitrary bytes in place of an archive", UNHURRIED, () => {
  it("lead to a refusal, or can be read completely within the limit under the detected name", async () => {
    await fc.assert(
      fc.asyncProperty(archives, async (bytes) => {
        const limits = { where: "a.csv", bytes, maxBytes: MAX_BYTES };
        let name: string;
        try {
          name = nameFile("airports.csv", limits);
        } catch (error) {
          if (error instanceof SourceError) return;
          throw error;
        }
        const text = await new Response(await decodeFile(name, streamOf(bytes))).arrayBuffer();
        expect(text.byteLength).toBeLessThanOrEqual(MAX_BYTES);
      }),
      fuzzed(300),
    );
  });
});
