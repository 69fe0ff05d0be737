/** A frame of a gRPC-Web body: a byte of flags, four of length, the data. */
interface Frame {
  readonly flags: number;
  readonly data: Uint8Array;
}

export function frame(data: Uint8Array, flags = 0): Buffer<ArrayBuffer> {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flags);
  prefix.writeUInt32BE(data.length, 1);
  return Buffer.concat([prefix, data]);
}

/** Cuts a body into its frames; throws if their lengths do not add up. */
export function framesOf(body: Uint8Array): Frame[] {
  const frames: Frame[] = [];
  for (let offset = 0; offset < body.byteLength;) {
    const view = new DataView(body.buffer, body.byteOffset + offset);
    const end = offset + 5 + view.getUint32(1);
    if (end > body.byteLength) throw new Error("frame ends after the body");
    frames.push({ flags: view.getUint8(0), data: body.slice(offset + 5, end) });
    offset = end;
  }
  return frames;
}
