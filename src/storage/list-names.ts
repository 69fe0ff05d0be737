import { withStoreTimeout } from "./deadline.ts";

/** Deadline for a page of 1,000 keys. */
const PAGE_DEADLINE_MS = 10_000;

/** Lists the keys in R2 under a prefix, without the prefix. Throws StoreError if R2 fails. */
export async function listNames(r2: R2Bucket, prefix: string): Promise<string[]> {
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const asked = r2.list({ prefix, ...(cursor !== undefined && { cursor }) });
    const page = await withStoreTimeout(prefix, PAGE_DEADLINE_MS, asked);
    names.push(...page.objects.map(({ key }) => key.slice(prefix.length)));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
  return names;
}
