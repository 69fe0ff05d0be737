import { describe, expect, it } from "vitest";
import { createRpcHandler } from "../../../src/rpc/handler.ts";
import { readHead } from "../../../src/rpc/request.ts";
import { aVersion } from "../../builders/manifest.ts";
import { ReaderWorld } from "../../builders/reader-world.ts";
import { aGet, aHandler, aPost, bytesOf } from "./requests.ts";

/** A handler whose reader holds everything. */
async function aWarmHandler() {
  const subject = aHandler();
  await subject.reader.hold();
  return subject;
}

describe("a call whose answer is in memory", () => {
  it.each([
    ["GET", {}, 200, true],
    ["conditional GET", { headers: { "if-none-match": "*" } }, 304, false],
    ["HEAD", { method: "HEAD" }, 200, false],
    ["GET with a deadline", { headers: { "connect-timeout-ms": "5000" } }, 200, true],
  ])("returns synchronously: %s", async (_, init, status, isWhole) => {
    const { handler, reader } = await aWarmHandler();
    const answer = handler(aGet(init));
    if (!(answer instanceof Response)) throw new Error("it waits");
    expect(answer.status).toBe(status);
    const whole = reader.bytes("en", "proto", "identity");
    expect(await bytesOf(answer)).toEqual(isWhole ? whole : new Uint8Array());
    expect(reader.opened).toEqual([]);
    expect(reader.currentCalls).toBe(0);
  });

  it.each([
    ["application/proto", {}],
    ["application/grpc-web+proto", { "grpc-timeout": "5S" }],
  ] as const)("reads no store for a POST of %s", async (type, headers) => {
    const { handler, reader } = aHandler();
    const first = await bytesOf(await handler(aPost(type, { headers })));
    await reader.hold();
    const calls = reader.currentCalls;
    expect(await bytesOf(await handler(aPost(type, { headers })))).toEqual(first);
    expect(reader.currentCalls).toBe(calls);
    expect(reader.opened).toHaveLength(1);
  });

  it("has the coding that each client accepts, in whatever order the clients come", async () => {
    const { handler, reader } = await aWarmHandler();
    for (const coding of ["br", "gzip", "identity", "br"] as const) {
      const answer = await handler(aGet({ headers: { "accept-encoding": coding } }));
      expect(answer.headers.get("content-encoding") ?? "identity").toBe(coding);
      expect(await bytesOf(answer)).toEqual(reader.bytes("en", "proto", coding));
    }
  });

  it("reads the stores again once the memory is gone", async () => {
    const { handler, reader } = await aWarmHandler();
    reader.forget();
    const answer = await handler(aGet());
    expect(answer.status).toBe(200);
    expect(reader.opened).toHaveLength(1);
  });

  it("leads to internal if the memory throws, and the log has the cause", async () => {
    const { handler, reader, logged } = await aWarmHandler();
    reader.openThrows = new Error("bug");
    const answer = await handler(aGet());
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({ code: "internal" });
    expect(logged).toEqual([reader.openThrows]);
  });

  it("starts a look-up of a newer version once the held one is no longer fresh", async () => {
    const world = new ReaderWorld();
    const answer = createRpcHandler({
      reader: world.reader,
      defaultLocale: "en",
      log: (_, cause) => expect.unreachable(String(cause)),
    });
    const handler = (request: Request) => answer(request, readHead(request));
    const version = ({ headers }: Response) => headers.get("catalog-version");
    world.store.publish(aVersion(1, "one"));
    expect(version(await handler(aGet()))).toBe("1");
    world.store.publish(aVersion(2, "two"));
    world.time += 30_000;
    const stale = handler(aGet());
    if (!(stale instanceof Response)) throw new Error("it waits");
    expect(version(stale)).toBe("1");
    await world.settle();
    const renewed = await handler(aGet());
    expect(version(renewed)).toBe("2");
    expect(new TextDecoder().decode(await bytesOf(renewed))).toBe("<two shared|two en>");
  });
});
