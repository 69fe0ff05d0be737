import { expect, it } from "vitest";
import { lateObject } from "../../../src/worker/objects.ts";

/** The part of an object's context that it uses before it opens. */
const ctx = { blockConcurrencyWhile: (open: () => unknown) => open() } as DurableObjectState;

interface Counter {
  count(by: number): number;
}

it("a Durable Object whose code cannot open rejects each call with the reason", async () => {
  const Late = lateObject<Counter>({ count: true }, () =>
    Promise.reject(new Error('LOCALES names "tlh"')),
  );
  const object = new Late(ctx, {} as Env);
  for (const by of [1, 2]) await expect(object.count(by)).rejects.toThrow('LOCALES names "tlh"');
});

it("a Durable Object passes each call on, as soon as it is open", async () => {
  let sum = 0;
  const counter: Counter = { count: (by) => (sum += by) };
  const Late = lateObject<Counter>({ count: true }, async () => counter);
  const object = new Late(ctx, {} as Env);
  expect(await Promise.all([object.count(1), object.count(2)])).toEqual([1, 3]);
});
