import { StoreError } from "../platform/deadline.ts";

/** Reads a file that was deployed with this Worker. Rejects if there is none. */
export async function readAsset(
  assets: Pick<Fetcher, "fetch">,
  path: string,
): Promise<ArrayBuffer> {
  const answer = await assets.fetch(`https://assets/${path}`);
  if (!answer.ok) throw new StoreError(`the static assets answer ${answer.status} for ${path}`);
  return answer.arrayBuffer();
}
