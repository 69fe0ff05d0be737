import { once } from "node:events";
import { createServer } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { adminCaller, type Patience } from "../../../scripts/deployed-service.ts";

type Answer = readonly [status: number, headers?: { readonly [name: string]: string }];

const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** A service that gives these answers in turn, the last again and again, and counts them. */
async function serviceThat(...answers: readonly [Answer, ...Answer[]]) {
  let calls = 0;
  const server = createServer((_request, response) => {
    const [status, headers] = answers[Math.min(calls, answers.length - 1)] ?? answers[0];
    calls++;
    response.writeHead(status, headers).end("{}");
  }).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was assigned");
  return { url: `http://127.0.0.1:${address.port}`, calls: () => calls };
}

const PATIENCE: Patience = { pollMs: 1, answerMs: 500, silenceMs: 5_000, retryAfterMs: 20 };
const SLOWLY = { "retry-after": "60" };

function queue(url: string, { isNew, ...patience }: Partial<Patience> & { isNew: boolean }) {
  const call = adminCaller(url, { token: "t", isNew }, { ...PATIENCE, ...patience });
  return call("POST", "/admin/ingest/queue");
}

describe("a call of an admin route", () => {
  it("waits until a new token is known, also where the failures before are answered 429", async () => {
    const { url, calls } = await serviceThat([401], [429, SLOWLY], [429, SLOWLY], [202]);
    expect(await queue(url, { isNew: true })).toEqual({});
    expect(calls()).toBe(4);
  });

  it("pauses as Retry-After says, but no longer than its bound", async () => {
    const { url, calls } = await serviceThat([429, SLOWLY]);
    const startMs = Date.now();
    const patience = { pollMs: 1, silenceMs: 300, retryAfterMs: 100 };
    await expect(queue(url, { isNew: true, ...patience })).rejects.toThrow("status 429");
    expect(Date.now() - startMs).toBeLessThan(30_000);
    expect(calls()).toBeLessThanOrEqual(4);
  });

  it.each([401, 429])("does not repeat a %d where the token is not new", async (status) => {
    const { url, calls } = await serviceThat([status, SLOWLY]);
    await expect(queue(url, { isNew: false })).rejects.toThrow("cannot be followed");
    expect(calls()).toBe(1);
  });

  it("repeats what a service that is silent for a moment answers", async () => {
    const { url } = await serviceThat([503], [500], [202]);
    expect(await queue(url, { isNew: false })).toEqual({});
  });
});
