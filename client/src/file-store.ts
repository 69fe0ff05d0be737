import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Medium } from "./store.ts";

const SUFFIX = ".copy";

/** A file that was not renamed within this time belongs to a program that was killed. */
const LEFTOVER_MS = 3_600_000;
const LEFTOVER = /\.copy\.[\da-f-]{36}$/;

/** Stores each value as a file in a folder, which it creates. */
export function fileMedium(folder: string): Medium {
  const fileOf = (key: string) => join(folder, `${encodeURIComponent(key)}${SUFFIX}`);
  const read = async (key: string) => new Uint8Array(await readFile(fileOf(key)));
  return {
    read,
    async replace(key, next) {
      const value = next(await read(key).catch(() => undefined));
      if (value === undefined) return;
      // Renamed into place, so that no reader sees half of it.
      const whole = `${fileOf(key)}.${crypto.randomUUID()}`;
      await mkdir(folder, { recursive: true });
      try {
        await writeFile(whole, value);
        await rename(whole, fileOf(key));
      } catch (cause) {
        await rm(whole, { force: true });
        throw cause;
      }
    },
    async delete(key) {
      await rm(fileOf(key), { force: true });
    },
    async keys() {
      const names = await readdir(folder);
      for (const name of names)
        if (LEFTOVER.test(name)) await deleteOld(join(folder, name)).catch(() => undefined);
      return names.flatMap((name) => keyOf(name) ?? []);
    },
  };
}

async function deleteOld(path: string): Promise<void> {
  const { mtimeMs } = await stat(path);
  if (Date.now() - mtimeMs > LEFTOVER_MS) await rm(path, { force: true });
}

/** Undefined for a file that is somebody else's. */
function keyOf(name: string): string | undefined {
  if (!name.endsWith(SUFFIX)) return undefined;
  try {
    return decodeURIComponent(name.slice(0, -SUFFIX.length));
  } catch {
    return undefined;
  }
}
