import { type Stage, STAGES } from "../src/ingest/run.ts";
import { workerdCpuMs } from "./workerd-process.ts";

/** What the steps of one stage took. */
export interface StageCost {
  readonly stage: Stage;
  readonly steps: number;
  readonly wallMs: number;
  readonly cpuMs: number;
}

/**
 * What each stage of an ingest takes, from one log line of a step to the next: inside of an isolate
 * no clock runs while it computes. CPU is that of all of workerd, stores included.
 */
export class StepCosts {
  readonly #costs = new Map<string, StageCost>();
  #beganAt = 0;
  #cpuMs = 0;

  /** Begins to count anew. */
  begin(): void {
    this.#costs.clear();
    this.#beganAt = performance.now();
    this.#cpuMs = workerdCpuMs();
  }

  /** Takes a line of the Worker's log. */
  hear(line: string): void {
    const stage = stageOf(line);
    if (stage === undefined) return;
    const [now, cpuMs] = [performance.now(), workerdCpuMs()];
    const before = this.#costs.get(stage);
    this.#costs.set(stage, {
      stage,
      steps: (before?.steps ?? 0) + 1,
      wallMs: (before?.wallMs ?? 0) + now - this.#beganAt,
      cpuMs: (before?.cpuMs ?? 0) + cpuMs - this.#cpuMs,
    });
    this.#beganAt = now;
    this.#cpuMs = cpuMs;
  }

  /** In order of the stages, those that were heard of. */
  get all(): readonly StageCost[] {
    return STAGES.flatMap((stage) => this.#costs.get(stage) ?? []);
  }
}

/** The stage of a step that has ended; undefined for any other line. */
function stageOf(line: string): Stage | undefined {
  if (!line.includes('"ingest_step"')) return undefined;
  const { stage } = JSON.parse(line) as { stage: string }; // our own log
  return STAGES.find((known) => known === stage);
}
