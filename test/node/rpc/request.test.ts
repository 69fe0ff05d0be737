import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { readHead } from "../../../src/rpc/request.ts";
import { streamBody } from "../../../src/rpc/request-body.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** After how long a body that never comes is given up. */
async function waitedMs(headers: { readonly [name: string]: string }): Promise<number> {
  const body = new ReadableStream({ pull: () => new Promise(() => {}) });
  const init = { method: "POST", headers, body, duplex: "half" };
  const request = new Request("http://localhost/", init);
  const began = Date.now();
  const read = (async () => {
    for await (const _ of streamBody(request, readHead(request)));
  })();
  const ended = read.then(
    () => expect.unreachable(),
    (cause: unknown) => {
      expect(String(cause)).toContain("did not arrive in time");
      return Date.now() - began;
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
