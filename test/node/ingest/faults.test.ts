import { describe, expect, it } from "vitest";
import { RunFault, toRunError } from "../../../src/ingest/faults.ts";
import { SourceError } from "../../../src/sources/source-error.ts";
import { StoreTimeout } from "../../../src/storage/deadline.ts";

describe("toRunError", () => {
  it.each(["not_utf8", "missing_columns", "malformed_csv", "truncated"] as const)(
    "makes the source fault %s final: the same bytes cannot turn good",
    (fault) => {
      expect(toRunError(new SourceError(fault, "airports.csv is bad"), "build")).toEqual({
        code: `source_${fault}`,
        stage: "build",
        message: "airports.csv is bad",
        retryable: false,
      });
    },
  );

  it("makes a tripped guard final", () => {
    expect(toRunError(new RunFault("guard_integrity", "id_unique: x"), "build")).toEqual({
      code: "guard_integrity",
      stage: "build",
      message: "id_unique: x",
      retryable: false,
    });
  });

  it.each([new Error("KV PUT failed: 429"), new StoreTimeout("no answer"), "a text", undefined])(
    "repeats a step after anything else: %s",
    (error) => {
      expect(toRunError(error, "encode")).toEqual({
        code: "store_fault",
        stage: "encode",
        message: String(error),
        retryable: true,
      });
    },
  );
});
