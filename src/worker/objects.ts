/**
 * The classes that Cloudflare runs: two Durable Objects and an entrypoint. Each loads its code when
 * it is first used, because a caller of the catalog waits for whatever the Worker loads at its start.
 */
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import type { Remote } from "../admin/calls.ts";
import type { Monitor } from "../monitor/monitor.ts";
import { releaseBuffer } from "../catalog/bytes.ts";
import type { Coordinator } from "../coordinator/coordinator.ts";
import type { CompressionTask } from "../parts/codings.ts";

/** Runs the coordinator. RPC takes only methods of the class. */
export class IngestCoordinator
  extends DurableObject<Env>
  implements Remote<Omit<Coordinator, "recover">>
{
  readonly #opened: Promise<Coordinator>;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#opened = ctx.blockConcurrencyWhile(async () => {
      const { openCoordinator } = await import("../coordinator/durable-object.ts");
      return openCoordinator(ctx, env);
    });
  }

  async enqueue(...args: Parameters<Coordinator["enqueue"]>) {
    return (await this.#opened).enqueue(...args);
  }
  async tick(...args: Parameters<Coordinator["tick"]>) {
    return (await this.#opened).tick(...args);
  }
  async pause(...args: Parameters<Coordinator["pause"]>) {
    return (await this.#opened).pause(...args);
  }
  async resume() {
    return (await this.#opened).resume();
  }
  async cancel(...args: Parameters<Coordinator["cancel"]>) {
    return (await this.#opened).cancel(...args);
  }
  async rollback(...args: Parameters<Coordinator["rollback"]>) {
    return (await this.#opened).rollback(...args);
  }
  async takeOver(...args: Parameters<Coordinator["takeOver"]>) {
    return (await this.#opened).takeOver(...args);
  }
  async backUp(...args: Parameters<Coordinator["backUp"]>) {
    return (await this.#opened).backUp(...args);
  }
  async tickJob(...args: Parameters<Coordinator["tickJob"]>) {
    return (await this.#opened).tickJob(...args);
  }
  async verifyBackup(...args: Parameters<Coordinator["verifyBackup"]>) {
    return (await this.#opened).verifyBackup(...args);
  }
  async restoreBackup(...args: Parameters<Coordinator["restoreBackup"]>) {
    return (await this.#opened).restoreBackup(...args);
  }
  async removeBackup(...args: Parameters<Coordinator["removeBackup"]>) {
    return (await this.#opened).removeBackup(...args);
  }
  async findJob(...args: Parameters<Coordinator["findJob"]>) {
    return (await this.#opened).findJob(...args);
  }
  async jobs(...args: Parameters<Coordinator["jobs"]>) {
    return (await this.#opened).jobs(...args);
  }
  async findRun(...args: Parameters<Coordinator["findRun"]>) {
    return (await this.#opened).findRun(...args);
  }
  async unsettledRuns() {
    return (await this.#opened).unsettledRuns();
  }
  async claimKey(...args: Parameters<Coordinator["claimKey"]>) {
    return (await this.#opened).claimKey(...args);
  }
  async keepAuditEntry(...args: Parameters<Coordinator["keepAuditEntry"]>) {
    return (await this.#opened).keepAuditEntry(...args);
  }
  async versions() {
    return (await this.#opened).versions();
  }
  async ledger() {
    return (await this.#opened).ledger();
  }
  async decide(...args: Parameters<Coordinator["decide"]>) {
    return (await this.#opened).decide(...args);
  }
  async queue() {
    return (await this.#opened).queue();
  }
  async status() {
    return (await this.#opened).status();
  }
  async setAside() {
    return (await this.#opened).setAside();
  }
  async forgetSetAside() {
    return (await this.#opened).forgetSetAside();
  }
  async reconcile() {
    return (await this.#opened).reconcile();
  }
  override async alarm() {
    return (await this.#opened).alarm();
  }
}

/** Evaluates the alerts. */
export class AlertMonitor extends DurableObject<Env> implements Remote<Monitor> {
  readonly #opened: Promise<Monitor>;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#opened = ctx.blockConcurrencyWhile(async () => {
      const { openMonitor } = await import("../monitor/durable-object.ts");
      return openMonitor(ctx, env);
    });
  }

  async evaluate(...args: Parameters<Monitor["evaluate"]>) {
    return (await this.#opened).evaluate(...args);
  }
  async test(...args: Parameters<Monitor["test"]>) {
    return (await this.#opened).test(...args);
  }
  async status() {
    return (await this.#opened).status();
  }
  async setAside() {
    return (await this.#opened).setAside();
  }
  async forgetSetAside() {
    return (await this.#opened).forgetSetAside();
  }
}

/**
 * Compresses parts for the coordinator over RPC. Each part has its own invocation with its own CPU
 * time, and the coordinator answers calls while it waits. The guards limit messages so that their parts
 * are far below RPC's limit of 32 MiB.
 */
export class PartCompressor extends WorkerEntrypoint {
  async compress(task: CompressionTask): Promise<Uint8Array> {
    const { compressPart } = await import("../parts/codings.ts");
    const compressed = compressPart(task);
    releaseBuffer(task.bytes); // RPC copied them for this call
    return compressed;
  }
}
