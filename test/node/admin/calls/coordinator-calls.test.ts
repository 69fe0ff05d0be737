import { describe, expect, it } from "vitest";
import {
  callCoordinator,
  CoordinatorUnavailable,
} from "../../../../src/admin/calls/coordinator-calls.ts";
import { StoreTimeout } from "../../../../src/storage/deadline.ts";

/** Stubs of which the first so many are broken. */
function stubs(broken: number, error: Error = new Error("the object was reset")) {
  let made = 0;
  return {
    get made() {
      return made;
    },
    connect: () => {
      const isBroken = made++ < broken;
      return {
        ask: async () => {
          if (isBroken) throw error;
          return "answer";
        },
      };
    },
  };
}

describe("a call to the coordinator", () => {
  it("is made once more through a new stub, if that does no harm", async () => {
    const world = stubs(1);
    expect(await callCoordinator(world.connect, "idempotent", (stub) => stub.ask())).toBe("answer");
    expect(world.made).toBe(2);
  });

  it("is not made a third time", async () => {
    const world = stubs(2);
    const call = callCoordinator(world.connect, "idempotent", (stub) => stub.ask());
    await expect(call).rejects.toThrow(CoordinatorUnavailable);
    expect(world.made).toBe(2);
  });

  it("is never repeated if it might then take effect twice", async () => {
    const world = stubs(1);
    const call = callCoordinator(world.connect, "once", (stub) => stub.ask());
    await expect(call).rejects.toThrow(CoordinatorUnavailable);
    expect(world.made).toBe(1);
  });

  it("is not repeated once it took all its time", async () => {
    const world = stubs(1, new StoreTimeout("coordinator"));
    const call = callCoordinator(world.connect, "idempotent", (stub) => stub.ask());
    await expect(call).rejects.toThrow(CoordinatorUnavailable);
    expect(world.made).toBe(1);
  });

  it("is not repeated where the object is overloaded, which that would make worse", async () => {
    const error = Object.assign(new Error("too many requests queued"), { overloaded: true });
    const world = stubs(1, error);
    const call = callCoordinator(world.connect, "idempotent", (stub) => stub.ask());
    await expect(call).rejects.toMatchObject({ name: "CoordinatorUnavailable", cause: error });
    expect(world.made).toBe(1);
  });

  it("keeps what was wrong as its cause", async () => {
    const call = callCoordinator(stubs(9).connect, "once", (stub) => stub.ask());
    await expect(call).rejects.toMatchObject({ cause: { message: "the object was reset" } });
  });
});
