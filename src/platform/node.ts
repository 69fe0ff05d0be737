/**
 * Modules of Node that serving does not need. A bundle imports everything at its top, which would cost
 * each start five milliseconds of CPU. These load on first use.
 */
export const node = {
  get crypto() {
    return (crypto ??= process.getBuiltinModule("node:crypto"));
  },
  get util() {
    return process.getBuiltinModule("node:util");
  },
  get zlib() {
    return (zlib ??= process.getBuiltinModule("node:zlib"));
  },
};

// An ingest needs it thousands of times, and `getBuiltinModule` looks it up each time.
let crypto: typeof import("node:crypto") | undefined;
let zlib: typeof import("node:zlib") | undefined;
