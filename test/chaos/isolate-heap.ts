import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";

/** Lets the isolates of a workerd that Miniflare starts collect garbage on request. */
export const COLLECTABLE = { MINIFLARE_WORKERD_V8_FLAGS: "--expose-gc" } as const;

const SAMPLE_MS = 5;
const MIB = 2 ** 20;

const targetsSchema = z.array(z.object({ id: z.string(), webSocketDebuggerUrl: z.string() }));
const answerSchema = z
  .object({ id: z.number(), result: z.unknown(), error: z.unknown() })
  .partial();
const contextSchema = z.object({
  method: z.literal("Runtime.executionContextCreated"),
  params: z.object({ context: z.object({ id: z.number() }) }),
});
const evaluatedSchema = z.object({ result: z.object({ value: z.unknown() }) });
const usageSchema = z.object({ usedSize: z.number(), backingStorageSize: z.number() });

/**
 * The memory of one isolate of workerd, as V8 counts it, seen through the inspector: objects, and
 * what stands behind buffers and blobs. An isolate that computes is seen when it waits next.
 */
export class IsolateHeap {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  /** Where the Worker's code runs. */
  #contextId: number | undefined;
  #sent = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#take(String(data)));
    socket.addEventListener("close", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the inspector has gone"));
    });
  }

  /**
   * Looks into the Worker of a name, of a workerd with `COLLECTABLE` in its environment. Throws if
   * there is no inspector, or no such Worker.
   */
  static async open(inspectorPort: number, worker: string): Promise<IsolateHeap> {
    const answer = await fetch(`http://127.0.0.1:${inspectorPort}/json`);
    const targets = targetsSchema.parse(await answer.json());
    const target = targets.find(({ id }) => id === `core:user:${worker}`);
    if (target === undefined) throw new Error(`there is no isolate of ${worker}`);
    const socket = new WebSocket(target.webSocketDebuggerUrl);
    await Promise.race([
      once(socket, "open"),
      once(socket, "error").then(() => {
        throw new Error(`the inspector of ${worker} cannot be reached`);
      }),
    ]);
    const heap = new IsolateHeap(socket);
    await heap.#send("Runtime.enable");
    return heap;
  }

  /** Memory (MiB) that the isolate holds at present: garbage is collected before the look. */
  async heldMb(): Promise<number> {
    // What buffers took is given back after the collection only.
    for (let times = 0; times < 2; times++)
      await this.#send("Runtime.evaluate", { expression: "gc()", contextId: this.#contextId });
    return this.takenMb();
  }

  /** Memory (MiB) that the isolate takes at present, with the garbage that nobody has collected. */
  async takenMb(): Promise<number> {
    const { usedSize, backingStorageSize } = usageSchema.parse(
      await this.#send("Runtime.getHeapUsage"),
    );
    return (usedSize + backingStorageSize) / MIB;
  }

  /** Most (MiB) that it holds while some work is done. */
  async peakMbDuring(work: Promise<unknown>): Promise<number> {
    const over = new AbortController();
    let peakMb = 0;
    const watch = async () => {
      while (!over.signal.aborted) {
        peakMb = Math.max(peakMb, await this.heldMb());
        await sleep(SAMPLE_MS);
      }
    };
    await Promise.all([work.finally(() => over.abort()), watch()]);
    return peakMb;
  }

  /** Evaluates an expression in the isolate, and returns its value. */
  async evaluate<T>(expression: string): Promise<T> {
    const params = { expression, contextId: this.#contextId, returnByValue: true };
    const { result } = evaluatedSchema.parse(await this.#send("Runtime.evaluate", params));
    return result.value as T; // what the caller evaluates
  }

  /** Lets go of the inspector. */
  close(): void {
    this.#socket.close();
  }

  #send(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#sent;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    this.#socket.send(JSON.stringify({ id, method, params }));
    return waiting.promise;
  }

  #take(message: string): void {
    const received: unknown = JSON.parse(message);
    const created = contextSchema.safeParse(received);
    if (created.success) this.#contextId = created.data.params.context.id;
    const { id, result, error } = answerSchema.parse(received);
    if (id === undefined) return;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(JSON.stringify(error)));
  }
}
