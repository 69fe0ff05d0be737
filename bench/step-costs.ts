import { workerdCpuMs } from "./workerd-process.ts";

/** A step of an ingest in the Worker's log, once it has ended. */
interface LoggedStep {
  readonly stage: string;
}

/** What the steps of one kind took. */
export interface StepCost {
  readonly name: string;
  readonly steps: number;
  readonly wallMs: number;
  readonly cpuMs: number;
}

/**
 * What the steps of an ingest take, from one log line of a step to the next: inside of an isolate
 * no clock runs while it computes. CPU is that of all of workerd, stores included.
 */
export class StepCosts {
  readonly #costs = new Map<string, StepCost>();
  #startedAt = 0;
  #cpuMs = 0;

  /** Starts a new count. */
  start(): void {
    this.#costs.clear();
    this.#startedAt = performance.now();
    this.#cpuMs = workerdCpuMs();
  }

  /** Reads a line of workerd's output. */
  readLine(line: string): void {
    if (!line.includes('"ingest_step"')) return;
    const { stage: name } = JSON.parse(line) as LoggedStep; // our own log
    const [now, cpuMs] = [performance.now(), workerdCpuMs()];
    const before = this.#costs.get(name);
    this.#costs.set(name, {
      name,
      steps: (before?.steps ?? 0) + 1,
      wallMs: (before?.wallMs ?? 0) + now - this.#startedAt,
      cpuMs: (before?.cpuMs ?? 0) + cpuMs - this.#cpuMs,
    });
    this.#startedAt = now;
    this.#cpuMs = cpuMs;
  }

  /** In the order of their log lines. */
  get all(): readonly StepCost[] {
    return [...this.#costs.values()];
  }
}
