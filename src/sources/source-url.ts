import type { Table } from "./source-file.ts";

/** URLs of the upstream files; `parseSourceUrl` must accept each. */
export type SourceUrls = { readonly [T in Table]: string };

/** Parses the URL of an upstream file. `problem` continues a sentence that begins with the URL. */
export function parseSourceUrl(
  text: string,
): { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly problem: string } {
  if (!URL.canParse(text)) return { ok: false, problem: "is not a URL" };
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return { ok: false, problem: "is neither http nor https" };
  if (url.username !== "" || url.password !== "")
    return { ok: false, problem: "has a user name or password" };
  return { ok: true, url };
}
