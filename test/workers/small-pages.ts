import { vi } from "vitest";

/** Has R2 list so few files a page, as it does a thousand, until mocks are restored. */
export function listSmallPages(bucket: R2Bucket, limit: number): void {
  const list = bucket.list.bind(bucket);
  vi.spyOn(bucket, "list").mockImplementation((options) => list({ ...options, limit }));
}
