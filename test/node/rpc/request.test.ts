import { setImmediate } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { createRpcHandler } from "../../../src/rpc/handler.ts";
import { readHead } from "../../../src/rpc/request.ts";
import { openBody } from "../../../src/rpc/request-body.ts";
import { ReaderWorld } from "../../builders/reader-world.ts";

/** What is loaded at its first use takes a while. */
beforeAll(async () => {
  await Promise.all([
    import("../../../src/rpc/errors.ts"),
    import("../../../src/rpc/unusual-call.ts"),
  ]);
});
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }));
afterEach(() => void vi.useRealTimers());

/** After how long a body that never comes is given up. */
async function waitedMs(headers: { readonly [name: string]: string }): Promise<number> {
  const body = new ReadableStream({ pull: () => new Promise(() => {}) });
  const init = { method: "POST", headers, body, duplex: "half" };
  const request = new Request("http://localhost/", init);
  const startedAt = Date.now();
  const read = (async () => {
    for await (const _ of openBody({ request, head: readHead(request) }));
  })();
  const ended = read.then(
    () => expect.unreachable(),
    (cause: unknown) => {
      expect(String(cause)).toContain("did not arrive in time");
      return Date.now() - startedAt;
    },
  );
  await vi.runAllTimersAsync();
  return ended;
}

it.each(["application/grpc-web", "application/grpc-web+proto", "Application/GRPC-Web-Text"])(
  "a streamed body of %s may take as long as grpc-timeout says",
  async (type) => {
    const headers = { "content-type": type, "connect-timeout-ms": "7" };
    expect(await waitedMs({ ...headers, "grpc-timeout": "250m" })).toBe(250);
  },
);

it("any other streamed body may take as long as connect-timeout-ms says", async () => {
  const headers = { "content-type": "application/proto", "grpc-timeout": "1m" };
  expect(await waitedMs({ ...headers, "connect-timeout-ms": "250" })).toBe(250);
});

it("no streamed body may take longer than ten seconds", async () => {
  for (const timeout of ["60000", "9999999999", "soon"])
    expect(await waitedMs({ "connect-timeout-ms": timeout })).toBe(10_000);
  expect(await waitedMs({})).toBe(10_000);
  expect(await waitedMs({ "content-length": "65" })).toBe(10_000);
});

it.each([
  ["a usual call", { "content-length": "4" }],
  ["any other call", {}],
])(
  "the deadline of %s counts from when it came, not from when its body did",
  async (_, headers) => {
    const { reader, store } = new ReaderWorld();
    store.before = () => new Promise(() => {});
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        await new Promise((resolve) => setTimeout(resolve, 600));
        controller.enqueue(Buffer.from("0a02656e", "hex"));
        controller.close();
      },
    });
    const init = {
      method: "POST",
      headers: { "content-type": "application/proto", "connect-timeout-ms": "1000", ...headers },
      body,
      duplex: "half",
    };
    const request = new Request(
      "http://localhost/locations.v1.LocationsService/GetLocationsV1",
      init,
    );
    const log = (message: string) => expect.unreachable(message);
    const handler = createRpcHandler({ reader, defaultLocale: "en", log });
    const answered = vi.fn<(response: Response) => void>();
    void Promise.resolve(handler(request, readHead(request))).then(answered);
    const pass = async (ms: number) => {
      await vi.advanceTimersByTimeAsync(ms);
      for (let turn = 0; turn < 20; turn++) await setImmediate();
    };
    await pass(600);
    await pass(399);
    expect(answered).not.toHaveBeenCalled();
    await pass(1);
    expect(answered.mock.lastCall?.[0].status).toBe(504);
  },
);
