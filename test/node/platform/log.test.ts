import { describe, expect, it } from "vitest";
import { Unavailable } from "../../../src/admin/calls.ts";
import { describeError } from "../../../src/platform/log.ts";

describe("describeError", () => {
  it("returns the name, the message and the stack of an error", () => {
    const error = new TypeError("no such thing");
    expect(describeError(error)).toEqual({
      error: "TypeError: no such thing",
      stack: error.stack,
    });
  });

  it("returns the text of a thrown value that is no error", () => {
    expect(describeError("out of order")).toEqual({ error: "out of order" });
  });

  it("names the causes of a call that was given up, the nearest first", () => {
    const reset = new Error("the object was reset", { cause: "a deploy" });
    expect(describeError(new Unavailable("coordinator", reset))).toMatchObject({
      error: "Unavailable: coordinator: no answer",
      causes: ["Error: the object was reset", "a deploy"],
    });
  });

  it("stops after five causes, which may form a circle", () => {
    const error = new Error("circular");
    error.cause = error;
    expect(describeError(error).causes).toEqual(Array.from({ length: 5 }, () => "Error: circular"));
  });
});
