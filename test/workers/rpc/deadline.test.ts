import { describe, expect, it } from "vitest";
import { aGet, aHandler, aPost, bytesOf, trailerOf } from "./requests.ts";

/** Longer than a test may take: an answer that waited for it would never come. */
const OPEN_MS = 3_600_000;
const TIMEOUT_MS = 50;

describe("a request whose deadline passes while storage is slow", () => {
  it("gets an answer on time", async () => {
    const { handler, reader, logged } = aHandler();
    await handler(aGet());
    reader.openMs = OPEN_MS;
    const connect = { "connect-timeout-ms": String(TIMEOUT_MS) };
    for (const request of [
      aGet({ headers: connect }),
      aPost("application/json", { headers: connect }),
      // Unusual calls have the same deadlines.
      aPost("application/json", { headers: { ...connect, "content-encoding": "identity" } }),
    ]) {
      const response = await handler(request);
      expect(response.status).toBe(504);
      expect(await response.json()).toMatchObject({ code: "deadline_exceeded" });
    }
    expect(logged).toEqual([]);
  });

  it.each(["application/grpc-web+proto", "application/grpc-web+json"] as const)(
    "gets the error in a trailer of %s",
    async (type) => {
      const { handler, reader } = aHandler();
      reader.openMs = OPEN_MS;
      const headers = { "grpc-timeout": `${TIMEOUT_MS}m` };
      const response = await handler(aPost(type, { headers }));
      expect(response.status).toBe(200);
      expect(trailerOf(await bytesOf(response), "grpc-status")).toBe("4");
    },
  );

  it.each([
    ["application/json", "connect-timeout-ms", "9999999999", "99999999999"],
    ["application/grpc-web+proto", "grpc-timeout", "99999999H", "999999999H"],
    ["application/grpc-web-text", "grpc-timeout", "99999999S", "99999999"],
  ] as const)("may be as far as %s can write it", async (type, name, furthest, malformed) => {
    const { handler } = aHandler();
    // Unusual calls have the same deadlines.
    for (const more of [{}, { "content-encoding": "identity", "grpc-encoding": "identity" }]) {
      const isServed = async (timeout: string) => {
        const { headers } = await handler(aPost(type, { headers: { ...more, [name]: timeout } }));
        return headers.has("catalog-version");
      };
      expect([await isServed(furthest), await isServed(malformed)]).toEqual([true, false]);
    }
  });

  it("never reaches storage if the deadline was over from the start", async () => {
    const { handler, reader } = aHandler();
    const response = await handler(aGet({ headers: { "connect-timeout-ms": "0" } }));
    expect(response.status).toBe(504);
    expect(reader.opened).toEqual([]);
  });
});
