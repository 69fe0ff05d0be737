/**
 * Whether a request comes from a page of another site. Such a page must not change anything in the
 * name of an operator who is signed in to Cloudflare Access. Browsers say where a request comes
 * from; other clients say nothing.
 */
export function isCrossSite({ url, headers }: Request): boolean {
  const own = new URL(url).origin;
  const site = headers.get("sec-fetch-site") ?? "same-origin";
  return (headers.get("origin") ?? own) !== own || (site !== "same-origin" && site !== "none");
}
