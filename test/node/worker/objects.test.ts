import { expect, it } from "vitest";
import { COORDINATOR_CALLS, MONITOR_CALLS } from "../../../src/platform/object-calls.ts";
import { AlertMonitor, IngestCoordinator } from "../../../src/worker/objects.ts";

type Calls = { readonly [call: string]: () => unknown };

/** The part of an object's context that it uses before it opens. */
const contextOf = (opened: Promise<unknown>) =>
  ({ blockConcurrencyWhile: () => opened }) as unknown as DurableObjectState;

it("a Durable Object whose code cannot open rejects each call with the reason", async () => {
  const failed = Promise.reject(new Error('LOCALES names "tlh"'));
  const object = new AlertMonitor(contextOf(failed), {} as Env);
  for (const call of [object.status(), object.setAside()])
    await expect(call).rejects.toThrow('LOCALES names "tlh"');
});

it.each([
  [IngestCoordinator, [...Object.keys(COORDINATOR_CALLS), "alarm"]],
  [AlertMonitor, Object.keys(MONITOR_CALLS)],
])("%o passes each call on to the method of the same name", async (Late, names) => {
  const opened = new Proxy({}, { get: (_, name) => name !== "then" && (() => name) });
  const object = new Late(contextOf(Promise.resolve(opened)), {} as Env) as unknown as Calls;
  for (const name of names) expect(await object[name]?.()).toBe(name);
});
