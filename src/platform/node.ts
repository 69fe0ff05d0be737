/**
 * Modules of Node that serving does not need. A bundle has every import at its top, wherever it is
 * written, so importing these would cost each start five milliseconds of CPU. Here they are loaded when
 * they are first used.
 */
export const node = {
  get crypto() {
    return process.getBuiltinModule("node:crypto");
  },
  get util() {
    return process.getBuiltinModule("node:util");
  },
  get zlib() {
    return process.getBuiltinModule("node:zlib");
  },
};
