import { base64Length } from "./base64.ts";
import type { Found } from "./look-up.ts";

interface Answered {
  /** `body`, `head`, `not_modified`, `precondition_failed`, `options`, `refused`, or a Connect code. */
  readonly outcome: string;
  readonly found?: Found;
}

/** The bindings that a deployer may add. */
export interface OptionalBindings {
  readonly METRICS?: AnalyticsEngineDataset;
}

/** Records an answer. Never throws, and never waits. */
export type Measure = (answered: Answered) => void;

/**
 * Writes a data point for each answer to Workers Analytics Engine. `index1` is the locale; `blob1`
 * to `blob4` are the outcome, where the body came from (`memory`, `kv`, `r2`, or empty for none), the
 * representation and the coding; `double1` and `double2` are the body's bytes and the generation.
 */
export function answerMetrics(dataset: AnalyticsEngineDataset): Measure {
  return ({ outcome, found }) => {
    const sent = found?.kind === "body" ? found : undefined;
    const { locale = "", representation = "", coding = "", manifest } = found?.variant ?? {};
    const bytes = sent?.variant.body.bytes ?? 0;
    dataset.writeDataPoint({
      indexes: [locale],
      blobs: [outcome, sent?.origin ?? "", representation, coding],
      doubles: [
        representation === "grpc-web-text" ? base64Length(bytes) : bytes,
        manifest?.generation ?? 0,
      ],
    });
  };
}
