import { describe, expect, it } from "vitest";
import type { WireAnswer } from "../../../bench/answer-check.ts";
import { type ChaosRequest, MALFORMED, readError, refuseError } from "../../chaos/judge-answer.ts";

interface Answer {
  readonly status: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | Uint8Array;
}

const anAnswer = ({ status, headers = {}, body = "" }: Answer): WireAnswer => ({
  status,
  header: (name) => headers[name],
  body: Buffer.from(body),
});

/** A frame of gRPC-Web: the flag, the length, what it carries. */
function frame(flag: number, text: string): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flag);
  head.writeUInt32BE(text.length, 1);
  return Buffer.concat([head, Buffer.from(text)]);
}

const grpcWeb = { "content-type": "application/grpc-web+proto" };
const trailer = frame(0x80, "grpc-status: 14\r\nretry-after: 5\r\n");
const retryAfter = { "retry-after": "5" };

describe("readError", () => {
  it.each<[string, string, Answer, string, boolean]>([
    ["Connect", "POST", { status: 500, body: '{"code":"data_loss"}' }, "data_loss", false],
    [
      "Connect with Retry-After",
      "GET",
      { status: 503, headers: retryAfter, body: '{"code":"unavailable"}' },
      "unavailable",
      true,
    ],
    ["gRPC-Web", "POST", { status: 200, headers: grpcWeb, body: trailer }, "unavailable", true],
    [
      "gRPC-Web in base64",
      "POST",
      {
        status: 200,
        headers: { "content-type": "application/grpc-web-text" },
        body: trailer.toString("base64"),
      },
      "unavailable",
      true,
    ],
    [
      "gRPC-Web of an unknown status",
      "POST",
      { status: 200, headers: grpcWeb, body: frame(0x80, "grpc-status: 2\r\n") },
      "grpc-status 2",
      false,
    ],
    ["HEAD", "HEAD", { status: 503, headers: retryAfter }, "unavailable", true],
    ["HEAD of an unknown status", "HEAD", { status: 418 }, "status 418", false],
    ["no body", "GET", { status: 500 }, "status 500: ", false],
    ["a page", "GET", { status: 502, body: "<html>" }, "status 502: <html>", false],
    ["JSON without a code", "GET", { status: 500, body: "{}" }, "status 500 without a code", false],
  ])("reads an error of %s", (_, method, answer, code, saysWhen) => {
    expect(readError(anAnswer(answer), method)).toEqual({ code, saysWhen });
  });

  it("takes a 500 to a HEAD for a bug, since no HEAD opens a body that could be lost", () => {
    expect(readError(anAnswer({ status: 500 }), "HEAD")?.code).toBe("internal");
  });

  it.each<[string, Answer]>([
    ["a body", { status: 200, body: "message" }],
    ["a tag that matches", { status: 304 }],
    ["a message of gRPC-Web", { status: 200, headers: grpcWeb, body: frame(0, "message") }],
  ])("finds none in %s", (_, answer) => {
    expect(readError(anAnswer(answer), "GET")).toBeUndefined();
  });
});

interface Seen {
  readonly saysWhen?: boolean;
  readonly sawDamage?: boolean;
}

describe("refuseError", () => {
  const refuse = (
    code: string,
    { saysWhen = false, sawDamage = false, ...of }: Partial<ChaosRequest> & Seen = {},
  ) => {
    const request = { method: "POST", path: "/", headers: {}, body: new Uint8Array() };
    const asked = { ...request, locale: "en", isTimed: false, ...of };
    return refuseError({ code, saysWhen }, { request: asked, sawDamage });
  };

  it("takes unavailable if it says when to come back", () => {
    expect(refuse("unavailable", { saysWhen: true })).toBeUndefined();
    expect(refuse("unavailable")).toMatch(/when to come back/);
  });

  it("takes data_loss only where copies may have looked damaged or missing", () => {
    expect(refuse("data_loss", { sawDamage: true })).toBeUndefined();
    expect(refuse("data_loss")).toMatch(/no copy/);
  });

  it("takes a deadline that passed only where there was one", () => {
    expect(refuse("deadline_exceeded", { isTimed: true })).toBeUndefined();
    expect(refuse("deadline_exceeded")).toMatch(/without a deadline/);
  });

  it.each(["internal", "status 500", "invalid_argument"])("never takes %s", (code) => {
    expect(refuse(code, { saysWhen: true, sawDamage: true, isTimed: true })).toBe(code);
  });

  it("takes invalid_argument, and nothing else, for a malformed locale", () => {
    expect(refuse("invalid_argument", { locale: MALFORMED })).toBeUndefined();
    expect(refuse("unavailable", { locale: MALFORMED, saysWhen: true })).toMatch(/malformed/);
  });
});
