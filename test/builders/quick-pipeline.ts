import { sha256Hex } from "../../src/catalog/bytes.ts";
import type { IngestCheckpoint } from "../../src/ingest/checkpoint.ts";
import { finish, proceed, type RunContext, type IngestStepResult } from "../../src/ingest/step.ts";
import { GuardsTripped } from "../../src/ingest/faults.ts";
import { Pipeline, type PipelineDependencies } from "../../src/ingest/pipeline.ts";
import { aVersion } from "./manifest.ts";

const NOTHING_PARSED: IngestCheckpoint["parsed"] = {
  rows: { seen: 0, rejected: 0, reasons: {} },
  measure: null,
  listed: { before: 0, after: 0, least: 0 },
  lastDecision: 0,
  held: { waiting: 0, oldest_since: null, next_due_at: null },
};

/**
 * The stages of the real pipeline in the same order and with the same calls, but for a catalog of
 * one text, which is not compressed: the first bytes that upstream gives. A text that starts with
 * `bad` trips a guard. Fetching is the real one.
 */
export class QuickPipeline extends Pipeline {
  readonly #deps: PipelineDependencies;

  constructor(deps: PipelineDependencies) {
    super(deps);
    this.#deps = deps;
  }

  override async step(
    checkpoint: IngestCheckpoint,
    context: RunContext,
  ): Promise<IngestStepResult> {
    const { current } = context;
    switch (checkpoint.stage) {
      case "fetch":
        return super.step(checkpoint, context);
      case "parse":
        return proceed({ ...checkpoint, stage: "build", parsed: NOTHING_PARSED }, {});
      case "build": {
        const text = await this.#text(checkpoint);
        if (context.mode === "incremental" && current?.catalog_sha256 === sha256Hex(text))
          return finish("unchanged", { generation_before: current.generation });
        return proceed({ ...checkpoint, stage: "guard" }, {});
      }
      case "guard": {
        const text = await this.#text(checkpoint);
        if (context.mode === "dry_run") return finish("dry_run");
        if (text.startsWith("bad") && !context.forced) throw new GuardsTripped([], {});
        return proceed({ ...checkpoint, stage: "encode" }, {});
      }
      case "encode": {
        for (const [sha256, bytes] of aVersion(1, await this.#text(checkpoint)).blobs)
          await this.#deps.store.writeBlob(sha256, bytes);
        return proceed({ ...checkpoint, stage: "publish" }, {});
      }
      case "publish": {
        const text = await this.#text(checkpoint);
        const catalog_sha256 = sha256Hex(text);
        if (current?.catalog_sha256 === catalog_sha256) return finish("unchanged");
        const { manifest } = aVersion(1, text);
        const publish = { ...manifest, catalog_sha256, sources: checkpoint.sources };
        return { ...finish("published", {}), publish };
      }
      default:
        return checkpoint.stage satisfies never;
    }
  }

  async #text({ sources }: IngestCheckpoint): Promise<string> {
    const file = await this.#deps.archive.open("text", sources["text"] ?? "");
    return new Response(file).text();
  }
}
