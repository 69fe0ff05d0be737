import { WorkerEntrypoint } from "cloudflare:workers";
import { releaseBuffer } from "../catalog/bytes.ts";
import { compressSegment, type SegmentTask } from "./segment-coders.ts";

/**
 * Compresses segments for the coordinator, over RPC: each in an invocation of its own, with CPU time
 * of its own, so that the coordinator only waits, and answers calls meanwhile. A segment of a message
 * that the guards let pass is far shorter than the 32 MiB that an RPC message may have.
 */
export class SegmentCompressor extends WorkerEntrypoint {
  async compress(task: SegmentTask): Promise<Uint8Array> {
    const compressed = compressSegment(task);
    releaseBuffer(task.bytes); // RPC has copied them for this call alone
    return compressed;
  }
}
