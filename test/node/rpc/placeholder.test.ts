import { describe, expect, it } from "vitest";
import { REPRESENTATIONS, type Representation } from "../../../src/catalog/manifest.ts";
import { judgeAnswer } from "../../../src/rpc/placeholder.ts";
import type { RouterAnswer } from "../../../src/rpc/router-answer.ts";

const OK_TRAILER = `8000000010${Buffer.from("grpc-status: 0\r\n").toString("hex")}`;
const ERROR_TRAILER = `8000000010${Buffer.from("grpc-status: 4\r\n").toString("hex")}`;

/** What the router answers in each representation when the implementation gives it nothing. */
const EMPTY: Record<Representation, [contentType: string, bodyHex: string]> = {
  proto: ["application/proto", ""],
  json: ["application/json", "7b7d"],
  "grpc-web": ["application/grpc-web+proto", `0000000000${OK_TRAILER}`],
  "grpc-web-text": ["application/grpc-web+proto", `0000000000${OK_TRAILER}`],
};

function anAnswer(
  of: Representation,
  changed: { status?: number; headers?: HeadersInit; bodyHex?: string } = {},
): RouterAnswer {
  const [contentType, bodyHex] = EMPTY[of];
  return {
    status: changed.status ?? 200,
    headers: new Headers(changed.headers ?? { "content-type": contentType }),
    body: new Uint8Array(Buffer.from(changed.bodyHex ?? bodyHex, "hex")),
  };
}

describe("judgeAnswer", () => {
  it.each(REPRESENTATIONS)("knows an empty message in %s", (representation) => {
    expect(judgeAnswer(anAnswer(representation), representation)).toBe("placeholder");
  });

  it("knows errors of both protocols", () => {
    const json = { "content-type": "application/json" };
    expect(
      judgeAnswer(anAnswer("proto", { status: 504, headers: json, bodyHex: "7b7d" }), "proto"),
    ).toBe("error");
    expect(judgeAnswer(anAnswer("json", { status: 500 }), "json")).toBe("error");
    expect(judgeAnswer(anAnswer("grpc-web", { bodyHex: ERROR_TRAILER }), "grpc-web")).toBe("error");
  });

  it.each<[string, Representation, Parameters<typeof anAnswer>[1]]>([
    ["another status", "proto", { status: 201 }],
    [
      "another codec",
      "proto",
      { headers: { "content-type": "application/json" }, bodyHex: "7b7d" },
    ],
    ["no content type", "json", { headers: {} }],
    ["a message", "proto", { bodyHex: "0a00" }],
    ["white space", "json", { bodyHex: "7b207d" }],
    [
      "a trailing header of the implementation",
      "proto",
      { headers: { "content-type": "application/proto", "trailer-x": "y" } },
    ],
    [
      "a coding",
      "json",
      { headers: { "content-type": "application/json", "content-encoding": "gzip" } },
    ],
    ["a compressed frame", "grpc-web", { bodyHex: `0100000000${OK_TRAILER}` }],
    ["a message in its frame", "grpc-web", { bodyHex: `00000000020a00${OK_TRAILER}` }],
    ["a failure after the data frame", "grpc-web", { bodyHex: `0000000000${ERROR_TRAILER}` }],
    ["no trailer", "grpc-web", { bodyHex: "0000000000" }],
    ["two trailers", "grpc-web-text", { bodyHex: `0000000000${OK_TRAILER}${OK_TRAILER}` }],
  ])("does not expect %s", (_, representation, changed) => {
    expect(judgeAnswer(anAnswer(representation, changed), representation)).toBe("unexpected");
  });
});
