/** Modules of Node that load on first use. At the top of the bundle they would cost each start 5 ms. */
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
