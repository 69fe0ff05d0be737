import { withStoreTimeout } from "./deadline.ts";

/** Deadline for a page of 1,000 keys. */
const PAGE_DEADLINE_MS = 10_000;

/** Lists the keys in R2 under a prefix, without the prefix. Throws StoreError if R2 fails. */
export async function listNames(r2: R2Bucket, prefix: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { objects } of listPages(r2, { prefix }))
    names.push(...objects.map(({ key }) => key.slice(prefix.length)));
  return names;
}

/** Lists the keys in R2, page by page. Throws StoreError if R2 fails. */
export async function* listPages(
  r2: R2Bucket,
  options: R2ListOptions & { readonly prefix: string },
): AsyncGenerator<R2Objects> {
  let cursor: string | undefined;
  do {
    const asked = r2.list({ ...options, ...(cursor !== undefined && { cursor }) });
    const page: R2Objects = await withStoreTimeout(options.prefix, PAGE_DEADLINE_MS, asked);
    yield page;
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
}
