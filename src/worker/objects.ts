/**
 * The classes that Cloudflare runs: two Durable Objects and an entrypoint. Each loads its code when
 * it is first used, because a caller of the catalog waits for whatever the Worker loads at its start.
 */
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import type { Remote } from "../admin/calls.ts";
import { COORDINATOR_CALLS, MONITOR_CALLS } from "../admin/object-calls.ts";
import type { Monitor } from "../monitor/monitor.ts";
import { releaseBuffer } from "../catalog/bytes.ts";
import type { Coordinator } from "../coordinator/coordinator.ts";
import type { CompressionTask } from "../ingest/segment-coders.ts";

type AnyCalls = { readonly [call: string]: (...args: unknown[]) => unknown };

/**
 * Makes the class of a Durable Object that opens an `O` at its start and passes all calls on to it.
 *
 * @param calls an entry for each call: RPC takes only methods of the class.
 */
export function lateObject<O extends object>(
  calls: { readonly [C in keyof O]: unknown },
  open: (ctx: DurableObjectState, env: Env) => Promise<O>,
): new (ctx: DurableObjectState, env: Env) => DurableObject<Env> & Remote<O> {
  class LateObject extends DurableObject<Env> {
    readonly opened: Promise<O>;

    constructor(ctx: DurableObjectState, env: Env) {
      super(ctx, env);
      this.opened = ctx.blockConcurrencyWhile(() => open(ctx, env));
    }
  }
  for (const name of Object.keys(calls))
    Object.defineProperty(LateObject.prototype, name, {
      async value(this: LateObject, ...args: unknown[]) {
        const object = (await this.opened) as unknown as AnyCalls; // `calls` names its methods
        const call = object[name];
        if (call === undefined) throw new Error(`there is no ${name}`);
        return call.apply(object, args);
      },
    });
  return LateObject as unknown as ReturnType<typeof lateObject<O>>; // with the methods above
}

/** Runs the coordinator. */
export class IngestCoordinator extends lateObject<Omit<Coordinator, "recover">>(
  { ...COORDINATOR_CALLS, alarm: true },
  async (ctx, env) => (await import("../coordinator/durable-object.ts")).openCoordinator(ctx, env),
) {}

/** Evaluates the alerts. */
export class AlertMonitor extends lateObject<Monitor>(MONITOR_CALLS, async (ctx, env) =>
  (await import("../monitor/durable-object.ts")).openMonitor(ctx, env),
) {}

/**
 * Compresses segments for the coordinator over RPC. Each segment has its own invocation with its
 * own CPU time, and the coordinator answers calls while it waits. The guards limit messages so that
 * their segments are far below RPC's limit of 32 MiB.
 */
export class SegmentCompressor extends WorkerEntrypoint {
  async compress(task: CompressionTask): Promise<Uint8Array> {
    const { compress } = await import("../ingest/segment-coders.ts");
    const compressed = await compress(task);
    releaseBuffer(task.bytes); // RPC copied them for this call
    return compressed;
  }
}
