import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

const MAX_GZIP_BYTES = 30_000;

/** Half of the worker that has the catalog, too. */
const MAX_SEARCH_WORKER_BYTES = 21_000;

/** Bundles modules of the package as an application does; with its packages only on demand. */
async function bundle(entry: string, packages: "bundle" | "external" = "external") {
  const { outputFiles, metafile } = await build({
    stdin: { contents: entry, resolveDir: "client/src", loader: "ts" },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    packages,
    metafile: true,
    logLevel: "silent",
  });
  const [output] = Object.values(metafile.outputs);
  return {
    gzipBytes: gzipSync(outputFiles[0]?.contents ?? "").length,
    packages: [...new Set(output?.imports.map(({ path }) => path))],
  };
}

const PAGE = 'import { openCatalog } from "./browser.ts"; console.log(openCatalog);';

describe("the client package", () => {
  it("has less than 30 KB compressed beside protobuf", async () => {
    const [page, worker] = await Promise.all([bundle(PAGE), bundle('import "./worker.ts";')]);
    expect(worker.packages.every((name) => name.startsWith("@bufbuild/protobuf"))).toBe(true);
    expect(page.gzipBytes + worker.gzipBytes).toBeGreaterThan(5_000);
    expect(page.gzipBytes + worker.gzipBytes).toBeLessThan(MAX_GZIP_BYTES);
  });

  it("has a worker without protobuf for a picker, of at most 21 kB", async () => {
    const worker = await bundle('import "./search-worker.ts";', "bundle");
    expect(worker.gzipBytes).toBeLessThan(MAX_SEARCH_WORKER_BYTES);
    expect((await bundle('import "./search-worker.ts";')).packages).toEqual([]);
  });

  it.each([
    ["a page that opens the catalog", PAGE],
    ["the join", 'import { joinCatalog } from "./catalog.ts"; console.log(joinCatalog);'],
    ["the search", 'import { search } from "./search/index.ts"; console.log(search);'],
  ])("brings no package into %s", async (_, entry) => {
    expect((await bundle(entry)).packages).toEqual([]);
  });
});
