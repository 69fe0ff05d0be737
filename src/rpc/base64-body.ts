import { Buffer } from "node:buffer";
import { Code, ConnectError } from "@connectrpc/connect";
import { decodeBase64, USUAL } from "./fast-path.ts";

/**
 * Decodes a body of `application/grpc-web-text`. Each frame may carry its own padding (gRPC-Web,
 * "Protocol differences vs gRPC over HTTP2"), so each run up to its padding is decoded on its own.
 */
export function decodeBase64Frames(body: Uint8Array): Uint8Array {
  const text = new TextDecoder("latin1").decode(body);
  const runs = text.match(/[^=]+={0,2}/g) ?? [];
  try {
    if (runs.join("") !== text) throw new Error("padding where there is nothing to pad");
    return Buffer.concat(runs.map((run) => decodeBase64(run, USUAL)));
  } catch {
    throw new ConnectError("protocol error: malformed base64", Code.InvalidArgument);
  }
}
