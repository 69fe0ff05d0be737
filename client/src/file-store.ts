import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import type { Store } from "./store.ts";

/** Keeps each value in a file of a folder, which it makes. Node only. */
export function fileStore(folder: string): Store {
  const fileOf = (key: string) => join(folder, `${encodeURIComponent(key)}.bin`);
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
  };
}
