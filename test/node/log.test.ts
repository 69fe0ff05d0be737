import { describe, expect, it } from "vitest";
import { Unavailable } from "../../src/admin/calls.ts";
import { describeError } from "../../src/log.ts";

describe("what a log line says of an error", () => {
  it("is its name, its message and its stack", () => {
    const error = new TypeError("no such thing");
    expect(describeError(error)).toEqual({
      error: "TypeError: no such thing",
      stack: error.stack,
    });
  });

  it("is its text, if something else was thrown", () => {
    expect(describeError("out of order")).toEqual({ error: "out of order" });
  });

  it("names what is behind a call that was given up, the nearest first", () => {
    const reset = new Error("the object was reset", { cause: "a deploy" });
    expect(describeError(new Unavailable("coordinator", reset))).toMatchObject({
      error: "Unavailable: coordinator: no answer",
      causes: ["Error: the object was reset", "a deploy"],
    });
  });

  it("has an end where causes have none", () => {
    const error = new Error("circular");
    error.cause = error;
    expect(describeError(error).causes).toEqual(Array.from({ length: 5 }, () => "Error: circular"));
  });
});
