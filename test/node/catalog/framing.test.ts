import { describe, expect, it } from "vitest";
import { messageFrameHeader, SUCCESS_TRAILER_FRAME } from "../../../src/catalog/framing.ts";

describe("gRPC-Web framing", () => {
  it.each([
    [0, [0, 0, 0, 0, 0]],
    [1, [0, 0, 0, 0, 1]],
    [1_700_000, [0, 0x00, 0x19, 0xf0, 0xa0]],
    [0xffff_ffff, [0, 0xff, 0xff, 0xff, 0xff]],
  ])(
    "prefixes a message of %i bytes with its length, big-endian and uncompressed",
    (length, header) => {
      expect([...messageFrameHeader(length)]).toEqual(header);
    },
  );

  it("ends a success with a trailer frame of status 0", () => {
    const text = "grpc-status: 0\r\n";
    const expected = Buffer.concat([Buffer.from([0x80, 0, 0, 0, 16]), Buffer.from(text)]);
    expect(Buffer.from(SUCCESS_TRAILER_FRAME)).toEqual(expected);
  });
});
