/** The service as a client of the catalog sees it, in memory. */
import { fromBinary } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { LocationsRequestSchema } from "../../gen/locations/v1/locations_pb.ts";
import { sha256Hex } from "../../src/catalog/bytes.ts";

export interface ServedVersion {
  readonly version: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Other answers in some languages. */
  readonly others?: { readonly [language: string]: Uint8Array<ArrayBuffer> };
}

export class CatalogService {
  /** By what a client requested: the method and the end of the path. */
  readonly calls: string[] = [];
  served: ServedVersion;
  /** The answer to `/catalog/diff`; none while it is undefined. */
  diff: unknown;
  /** The answer to `/catalog/names`; none while it is undefined. */
  names: unknown;
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
    if (name === "GetLocationsV1") return this.#answer(request);
    const content = { ...this.files, diff: this.diff, names: this.names }[name];
    if (content === undefined)
      return Response.json({ code: "changes_not_stored" }, { status: 404 });
    const etag = `"${sha256Hex(JSON.stringify(content))}"`;
    return Response.json(content, { headers: { etag } });
  };

  /** The calls since this was last called. */
  takeCalls(): string[] {
    return this.calls.splice(0);
  }

  #answer({ method, url }: Request): Response {
    const message = new URL(url).searchParams.get("message") ?? "";
    const { locale } = fromBinary(LocationsRequestSchema, base64Decode(message));
    const language = locale || "en";
    const { version, others } = this.served;
    const bytes = others?.[language] ?? this.served.bytes;
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
