/** The service as a client of the catalog sees it, in memory. */
import { sha256Hex } from "../../src/catalog/bytes.ts";

export interface ServedVersion {
  readonly version: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly language?: string;
}

export class CatalogService {
  /** By what a client requested: the method and the end of the path. */
  readonly calls: string[] = [];
  served: ServedVersion;
  /** The answer to `/catalog/diff`; none while it is undefined. */
  diff: unknown;
  /** The files of `/search/v1`. */
  files: { readonly [name: string]: unknown } = {};
  isDown = false;

  constructor(served: ServedVersion) {
    this.served = served;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, { method: init?.method ?? "GET" });
    const { pathname } = new URL(request.url);
    const name = pathname.slice(pathname.lastIndexOf("/") + 1);
    this.calls.push(`${request.method} ${name}`);
    if (this.isDown) throw new TypeError("fetch failed");
    if (name === "GetLocationsV1") return this.#answer(request.method);
    const content = name === "diff" ? this.diff : this.files[name];
    if (content === undefined)
      return Response.json({ code: "changes_not_stored" }, { status: 404 });
    const etag = `"${sha256Hex(JSON.stringify(content))}"`;
    return Response.json(content, { headers: { etag } });
  };

  /** The calls since this was last called. */
  takeCalls(): string[] {
    return this.calls.splice(0);
  }

  #answer(method: string): Response {
    const { bytes, version, language = "en" } = this.served;
    return new Response(method === "HEAD" ? null : bytes, {
      headers: {
        "content-type": "application/proto",
        "content-language": language,
        "catalog-sha256": sha256Hex(bytes),
        "catalog-version": String(version),
      },
    });
  }
}
