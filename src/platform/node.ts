/**
 * Modules of Node that serving does not need. A bundle has every import at its top, wherever it is
 * written, so importing these would cost each start five milliseconds of CPU. Here they are loaded when
 * they are first used.
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

// An ingest asks for these thousands of times, and `getBuiltinModule` looks each time anew.
let crypto: typeof import("node:crypto") | undefined;
let zlib: typeof import("node:zlib") | undefined;
