import { describe, expect, it } from "vitest";
import { finishChanges } from "../../../../src/admin/http/finish-changes.ts";

describe("a request whose client goes away", () => {
  const ask = (method: string) => {
    const awaited: Promise<unknown>[] = [];
    const answer = finishChanges(async () => new Response("done"), awaited.push.bind(awaited));
    void answer(new Request("https://locations.test/", { method }));
    return awaited;
  };

  it.each(["POST", "PUT", "DELETE", "PATCH"])("goes on to its end: %s", async (method) => {
    const [answered, ...others] = ask(method);
    expect(others).toEqual([]);
    expect(await answered).toBeInstanceOf(Response);
  });

  it.each(["GET", "HEAD"])("ends, since it changes nothing: %s", (method) => {
    expect(ask(method)).toEqual([]);
  });
});
