/** The bytes of a body. */
export interface Content {
  readonly size: number;
  /** Streams the bytes from the start, each time that it is called. */
  stream(): ReadableStream<Uint8Array>;
}

/** Makes a pipe for `bytes` bytes, so that the runtime can send the length before the content. */
export type CreatePipe = (bytes: number) => ReadableWritablePair<Uint8Array, Uint8Array>;

/**
 * Streams segments one after the other. Costs a third of a millisecond more CPU than one blob, but
 * no memory: workerd copies every part into a blob of blobs, and V8 collects such copies late.
 */
export class SegmentedContent implements Content {
  readonly size: number;
  readonly #parts: readonly Blob[];
  readonly #createPipe: CreatePipe;

  constructor(parts: readonly Blob[], createPipe: CreatePipe) {
    this.#parts = parts;
    this.#createPipe = createPipe;
    this.size = parts.reduce((sum, { size }) => sum + size, 0);
  }

  stream(): ReadableStream<Uint8Array> {
    const { readable, writable } = this.#createPipe(this.size);
    // A rejection means that the client left, which has already ended the stream.
    void this.#write(writable).catch(() => {});
    return readable;
  }

  /** Copies the segments into one blob, which workerd sends without a further copy. */
  join(): Blob {
    return new Blob([...this.#parts]);
  }

  async #write(writable: WritableStream<Uint8Array>): Promise<void> {
    for (const part of this.#parts) await part.stream().pipeTo(writable, { preventClose: true });
    await writable.close();
  }
}
