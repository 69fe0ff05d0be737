import { StoreError, withStoreTimeout } from "./deadline.ts";

const READ_DEADLINE_MS = 60_000;

/** Makes a function that reads a static asset of the Worker by its path. It throws StoreError. */
export function assetReader(assets: Pick<Fetcher, "fetch">) {
  return (path: string): Promise<ArrayBuffer> => {
    const read = async () => {
      const answer = await assets.fetch(`https://assets/${path}`);
      if (!answer.ok) throw new StoreError(`the static assets answer ${answer.status} for ${path}`);
      return answer.arrayBuffer();
    };
    return withStoreTimeout(path, READ_DEADLINE_MS, read());
  };
}
