import { WorkerEntrypoint } from "cloudflare:workers";
import { releaseBuffer } from "../catalog/bytes.ts";
import { compressSegment, type SegmentTask } from "./segment-coders.ts";

/**
 * Compresses segments for the coordinator over RPC. Each segment has its own invocation with its
 * own CPU time, and the coordinator answers calls while it waits. The guards limit messages so that
 * their segments are far below RPC's limit of 32 MiB.
 */
export class SegmentCompressor extends WorkerEntrypoint {
  async compress(task: SegmentTask): Promise<Uint8Array> {
    const compressed = compressSegment(task);
    releaseBuffer(task.bytes); // RPC copied them for this call
    return compressed;
  }
}
