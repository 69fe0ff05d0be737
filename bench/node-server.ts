/** Connect's own server in Node, in a process of its own, with the message in memory. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { fromBinary } from "@bufbuild/protobuf";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { LocationsResponseSchema, LocationsService } from "../gen/locations/v1/locations_pb.ts";
import { processCpuMs } from "./workerd-process.ts";

export class NodeServer {
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(port: number, child: ChildProcess) {
    this.port = port;
    this.#child = child;
  }

  /** Starts it with a message, which it encodes for each request. */
  static async start(message: Uint8Array): Promise<NodeServer> {
    const child = fork(import.meta.filename, { serialization: "advanced" });
    child.send(message);
    const [port] = (await once(child, "message")) as [number]; // sent below
    return new NodeServer(port, child);
  }

  readonly cpuMs = (): number => processCpuMs(this.#child.pid);

  stop(): void {
    this.#child.kill();
  }
}

async function serve(bytes: Uint8Array): Promise<void> {
  const message = fromBinary(LocationsResponseSchema, bytes);
  const adapter = connectNodeAdapter({
    routes: (router) => router.service(LocationsService, { getLocationsV1: () => message }),
  });
  const server = createServer(adapter).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  process.send?.(typeof address === "object" ? address?.port : undefined);
}

if (process.argv[1] === import.meta.filename) {
  process.once("message", (bytes: Uint8Array) => void serve(bytes));
  process.once("disconnect", () => process.exit());
}
