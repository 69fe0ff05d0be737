import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { anyRequest, initOf } from "../../../builders/admin-requests.ts";
import { fuzzed, UNHURRIED } from "../../../builders/fuzzed.ts";
import { checkedFetch } from "../../checked-fetch.ts";

describe("whatever an operator reads", UNHURRIED, () => {
  it("is answered by the real stores as the OpenAPI document says, and never by a bug", async () => {
    // Each request is logged, which nobody wants to read.
    vi.spyOn(console, "log").mockImplementation(() => undefined);
    await fc.assert(
      fc.asyncProperty(anyRequest, async (sent) => {
        const request = { ...sent, method: sent.method === "HEAD" ? "HEAD" : "GET" } as const;
        // Outside of /admin, gRPC is for the other room.
        fc.pre(request.contentType !== "application/grpc");
        const answer = await checkedFetch(`${request.path}${request.query}`, initOf(request));
        expect(answer.status).not.toBe(500);
      }),
      fuzzed(100),
    );
  });
});
