import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, inject, it } from "vitest";
import { frame } from "../builders/frames.ts";
import { send, sha256 } from "./http.ts";
import { chunks, converse, LAST_CHUNK, pieces, postHead } from "./raw-socket.ts";
import { FORMS, requestMessage } from "./wire.ts";

const { port, logFile } = inject("service");

const JSON_TYPE = "Content-Type: application/json";
const PROTO_TYPE = "Content-Type: application/proto";
const GRPC_WEB_TYPE = "Content-Type: application/grpc-web+proto";
const TEXT_TYPE = "Content-Type: application/grpc-web-text";
const CHUNKED = "Transfer-Encoding: chunked";

/** Parts that are written, the status of the answer, and the code in its JSON. */
const REFUSED: {
  readonly [name: string]: readonly [readonly (string | Uint8Array)[], number, string];
} = {
  "two Connect-Timeout-Ms lines": [
    [
      postHead(
        JSON_TYPE,
        "Connect-Timeout-Ms: 1000",
        "Connect-Timeout-Ms: 2000",
        "Content-Length: 2",
      ),
      "{}",
    ],
    400,
    "invalid_argument",
  ],
  "two Content-Encoding lines": [
    [
      postHead(PROTO_TYPE, "Content-Encoding: gzip", "Content-Encoding: gzip", "Content-Length: 4"),
      requestMessage("de"),
    ],
    501,
    "unimplemented",
  ],
  "5,120 bytes in chunks, to which no end comes": [
    [postHead(PROTO_TYPE, CHUNKED), ...chunks(pieces(Buffer.alloc(5_120), 1_024))],
    429,
    "resource_exhausted",
  ],
};

it.each(Object.entries(REFUSED))(
  "refuses %s without waiting for more",
  async (_name, [parts, expectedStatus, code]) => {
    const { status, headers, body } = await converse(parts);
    expect(status).toBe(expectedStatus);
    expect(headers.get("content-type")).toBe("application/json");
    expect(JSON.parse(body.toString())).toMatchObject({ code });
  },
);

const message = requestMessage("de");

it.each([
  ["JSON in chunks of a byte", JSON_TYPE, Buffer.from('{"locale":"de"}'), 1, "Connect, JSON"],
  ["a message in one chunk", PROTO_TYPE, message, 99, "Connect, binary"],
  ["an envelope in chunks of three bytes", GRPC_WEB_TYPE, frame(message), 3, "gRPC-Web"],
  [
    "base64 in chunks of three bytes",
    TEXT_TYPE,
    Buffer.from(frame(message).toString("base64")),
    3,
    "gRPC-Web text",
  ],
] as const)("accepts %s", async (_name, type, body, length, form) => {
  const answer = await converse([
    postHead(type, CHUNKED),
    ...chunks(pieces(body, length)),
    LAST_CHUNK,
  ]);
  const usual = await send(FORMS[form]("de"));
  expect(answer.status).toBe(200);
  expect(sha256(answer.body)).toBe(sha256(usual.body));
});

describe("a service whose clients disconnect", () => {
  const request = FORMS["Connect, binary"]("ja");
  const envelope = frame(message);

  it.each<readonly [string, readonly (string | Uint8Array)[]]>([
    ["before the body", [postHead(PROTO_TYPE, "Content-Length: 4")]],
    ["within a short body", [postHead(PROTO_TYPE, "Content-Length: 40"), message]],
    ["within a long body", [postHead(PROTO_TYPE, "Content-Length: 4000"), message]],
    ["within a chunk", [postHead(JSON_TYPE, CHUNKED), "9\r\n{"]],
    [
      "within an envelope",
      [postHead(GRPC_WEB_TYPE, CHUNKED), ...chunks([envelope.subarray(0, 7)])],
    ],
    ["after an envelope", [postHead(GRPC_WEB_TYPE, "Content-Length: 999999999"), envelope]],
    ["before the answer", [postHead(PROTO_TYPE, "Content-Length: 4"), message]],
  ])("stays healthy and logs no error when they leave %s", async (_name, parts) => {
    const before = readFileSync(logFile, "utf8").length;
    await Promise.all(Array.from({ length: 20 }, () => leave(parts)));
    const { status, headers, body } = await send(request);
    expect(status).toBe(200);
    expect(sha256(body)).toBe(headers["catalog-sha256"]);
    const written = readFileSync(logFile, "utf8").slice(before);
    // A line may come late: the refused admin request of the test before has one.
    const wrong =
      /"level":"(?:error|warn)"(?!,"event":"admin_unauthenticated")|uncaught|unhandled/i;
    expect(written).not.toMatch(wrong);
  });

  it("stays healthy when they leave within the answer", async () => {
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const head = postHead(PROTO_TYPE, "Content-Length: 4");
        const socket = connect(port, "127.0.0.1");
        socket.end(Buffer.concat([Buffer.from(head), message]));
        await new Promise((resolve, reject) => socket.once("data", resolve).once("error", reject));
        socket.destroy();
      }),
    );
    const { headers, body } = await send(request);
    expect(sha256(body)).toBe(headers["catalog-sha256"]);
  });
});

/** Writes the parts and cuts the connection a moment later. */
async function leave(parts: readonly (string | Uint8Array)[]): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  for (const part of parts) {
    socket.write(part);
    await sleep(10);
  }
  socket.resetAndDestroy();
  await sleep(50);
}
