import { describe, expect, it } from "vitest";
import { welcome } from "../../../scripts/welcome.ts";

const WORKER = { url: "http://127.0.0.1:8787", logFile: "worker.log" };

describe("what a start says at its end", () => {
  it("has the length of each list that is served", () => {
    const health = { status: "pass", version: 3, counts: { airports: 2, cities: 1 } };
    expect(welcome(WORKER, "token", health)).toContain(
      "Serving 2 airports, 1 cities at http://127.0.0.1:8787",
    );
  });

  it("does not claim to serve what is not published", () => {
    const text = welcome(WORKER, "token", { status: "fail", version: undefined, counts: {} });
    expect(text).toContain("Nothing is published yet");
    expect(text).not.toContain("Serving");
  });
});
