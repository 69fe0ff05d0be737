import { Buffer } from "node:buffer";
import { Code, ConnectError } from "@connectrpc/connect";
import { decodeBase64, USUAL } from "./fast-path.ts";

/**
 * Decodes a body of `application/grpc-web-text`. Each frame may carry its own padding (gRPC-Web,
 * "Protocol differences vs gRPC over HTTP2"). The decoder buffers fewer than four characters, so a
 * limit on the decoded bytes bounds its memory too.
 */
export async function* decodeBase64Frames(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let pending = "";
  for await (const chunk of body) {
    pending += latin1.decode(chunk);
    const whole = pending.length - (pending.length % 4);
    if (whole > 0) yield decodeQuanta(pending.slice(0, whole));
    pending = pending.slice(whole);
  }
  if (pending !== "") yield decodeQuanta(pending);
}

const latin1 = new TextDecoder("latin1");

/** Padding can occur between frames, so each run up to its padding is decoded on its own. */
function decodeQuanta(text: string): Uint8Array {
  const runs = text.match(/[^=]+={0,2}/g) ?? [];
  if (runs.join("") !== text) throw malformedBase64();
  try {
    return Buffer.concat(runs.map((run) => decodeBase64(run, USUAL)));
  } catch {
    throw malformedBase64();
  }
}

function malformedBase64(): ConnectError {
  return new ConnectError("protocol error: malformed base64", Code.InvalidArgument);
}
