import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import type { Store } from "./store.ts";

const SUFFIX = ".bin";

/** Keeps each value in a file of a folder, which it makes. Node only. */
export function fileStore(folder: string): Store {
  const fileOf = (key: string) => join(folder, `${encodeURIComponent(key)}${SUFFIX}`);
  return {
    async get(key) {
      return deserialize(await readFile(fileOf(key)));
    },
    /** Renames a whole file into place, so that no reader sees half of one. */
    async set(key, value) {
      const whole = `${fileOf(key)}.${process.pid}`;
      await mkdir(folder, { recursive: true });
      await writeFile(whole, serialize(value));
      await rename(whole, fileOf(key));
    },
    async delete(key) {
      await rm(fileOf(key), { force: true });
    },
    async keys() {
      const names = (await readdir(folder)).filter((name) => name.endsWith(SUFFIX));
      return names.map((name) => decodeURIComponent(name.slice(0, -SUFFIX.length)));
    },
  };
}
