/** gRPC-Web's framing of one message (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md). */

/** One byte of flags and four of length. */
export const FRAME_HEADER_BYTES = 5;
/** Least significant bit of the flags: the message is compressed, as Grpc-Encoding says. */
const COMPRESSED_FLAG = 0x01;
/** Most significant bit of the flags: the frame holds trailers. */
const TRAILER_FLAG = 0x80;

/** Builds the frame header of an uncompressed message of `length` bytes. */
export function messageFrameHeader(length: number): Uint8Array<ArrayBuffer> {
  return frameHeader(0, length);
}

/** Builds the frame header of a compressed message of `length` bytes. */
export function compressedFrameHeader(length: number): Uint8Array<ArrayBuffer> {
  return frameHeader(COMPRESSED_FLAG, length);
}

/** The trailer frame of a call that succeeded without trailing metadata. */
export const SUCCESS_TRAILER_FRAME: Uint8Array<ArrayBuffer> = trailerFrame("grpc-status: 0\r\n");

function trailerFrame(trailers: string): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(FRAME_HEADER_BYTES + trailers.length);
  frame.set(frameHeader(TRAILER_FLAG, trailers.length));
  frame.set(new TextEncoder().encode(trailers), FRAME_HEADER_BYTES);
  return frame;
}

function frameHeader(flags: number, length: number): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(FRAME_HEADER_BYTES);
  header[0] = flags;
  new DataView(header.buffer).setUint32(1, length);
  return header;
}
