import { describe, expect, it } from "vitest";
import { IngestCoordinator } from "../../src/objects.ts";

/** The part of an object's context that it uses before it opens. */
const ctx = { blockConcurrencyWhile: (open: () => unknown) => open() } as DurableObjectState;
const wrong = { LOCALES: "tlh" } as unknown as Env;

describe("a Durable Object that cannot open", () => {
  it("rejects each call with the reason, such as a wrong setting", async () => {
    const object = new IngestCoordinator(ctx, wrong);
    for (const call of [object.status(), object.jobs()])
      await expect(call).rejects.toThrow('LOCALES names "tlh"');
  });
});
