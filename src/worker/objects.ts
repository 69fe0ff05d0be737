/**
 * The classes that Cloudflare runs: two Durable Objects and an entrypoint. Each loads its code when it
 * is first used, because a caller of the catalog waits for all that the Worker loads at its start.
 */
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import type { Remote } from "../admin/calls.ts";
import type { Monitor } from "../monitor/monitor.ts";
import { releaseBuffer } from "../catalog/bytes.ts";
import type { Coordinator } from "../coordinator/coordinator.ts";
import type { CompressionInput } from "../parts/codings.ts";
import { COORDINATOR_CALLS, MONITOR_CALLS } from "../platform/object-calls.ts";

type Methods = { readonly [name: string]: (...args: unknown[]) => unknown };

/**
 * Makes the class of a Durable Object that opens a `T` and passes its calls on. RPC takes only methods
 * of the prototype, which therefore has them before the code of `T` is loaded.
 *
 * @param calls has each method's name.
 */
function objectOf<T extends object>(
  calls: { readonly [Name in keyof T]: unknown },
  open: (ctx: DurableObjectState, env: Env) => Promise<T>,
) {
  class OpenedObject extends DurableObject<Env> {
    static {
      for (const name of Object.keys(calls))
        Object.defineProperty(this.prototype, name, {
          async value(this: OpenedObject, ...args: unknown[]) {
            const opened = (await this.#opened) as Methods; // `calls` names methods of T
            return opened[name]?.(...args);
          },
        });
    }

    readonly #opened: Promise<T>;

    constructor(ctx: DurableObjectState, env: Env) {
      super(ctx, env);
      this.#opened = ctx.blockConcurrencyWhile(() => open(ctx, env));
    }
  }
  return OpenedObject as unknown as new (
    ctx: DurableObjectState,
    env: Env,
  ) => DurableObject<Env> & Remote<T>; // the methods that were defined
}

export class IngestCoordinator extends objectOf<Omit<Coordinator, "recover">>(
  { ...COORDINATOR_CALLS, alarm: "for the platform" },
  async (ctx, env) => (await import("../coordinator/durable-object.ts")).openCoordinator(ctx, env),
) {}

export class AlertMonitor extends objectOf<Monitor>(MONITOR_CALLS, async (ctx, env) =>
  (await import("../monitor/durable-object.ts")).openMonitor(ctx, env),
) {}

/**
 * Compresses parts for the coordinator over RPC. Each part has its own invocation with its own CPU
 * time, and the coordinator answers calls while it waits. The guards limit messages so that their parts
 * are far below RPC's limit of 32 MiB.
 */
export class PartCompressor extends WorkerEntrypoint {
  async compress(task: CompressionInput): Promise<Uint8Array> {
    const { compressPart } = await import("../parts/codings.ts");
    const compressed = compressPart(task);
    releaseBuffer(task.bytes); // RPC copied them for this call
    return compressed;
  }
}
