import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { build, type BuildOptions, type Metafile } from "esbuild";
import { describe, expect, it } from "vitest";

/** The layers of `src/`, from the bottom: a folder imports only from layers below its own. */
const LAYERS: readonly (readonly string[])[] = [
  ["platform"],
  ["schemas"],
  ["catalog"],
  ["parts"],
  ["acceptance", "sources", "storage"],
  ["backup", "ingest", "rpc"],
  ["search"],
  ["coordinator"],
  ["monitor"],
  ["admin"],
  ["worker"],
];

/** What every folder may import: made code, data and migrations. */
const OUTSIDE = ["data", "gen", "migrations"];

/** The only files that may name the platform's bindings. */
const BINDINGS_MAY_BE_NAMED_IN = [
  "src/coordinator/durable-object.ts",
  "src/monitor/durable-object.ts",
  "src/worker/objects.ts",
  "src/worker/operations.ts",
  "src/worker/worker.ts",
];

const RUNTIME_MODULE = /^(?:node|cloudflare|virtual|generated):/;

interface Import {
  readonly file: string;
  readonly target: string;
}

const files = sourceFiles("src");

const imports = importsOf(files);

function importsOf(from: readonly string[]): Import[] {
  return from.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)"/g)].map(
      ([, path = ""]) => ({ file, target: normalize(join(dirname(file), path)) }),
    ),
  );
}

/** `src/rpc/handler.ts` is in the folder `rpc`, `gen/env.d.ts` in `gen`. */
function folderOf(file: string): string {
  const [top = "", folder = ""] = file.split("/");
  return top === "src" ? folder : top;
}

const layerOf = (folder: string) => LAYERS.findIndex((folders) => folders.includes(folder));

describe("the folders of src/", () => {
  it("are these layers", () => {
    expect([...new Set(files.map(folderOf))].toSorted()).toEqual(LAYERS.flat().toSorted());
  });

  it("import only from layers below, and from what lies beside src/", () => {
    expect(imports.length).toBeGreaterThan(50);
    const wrong = imports.filter(({ file, target }) => {
      const [folder, from] = [folderOf(file), folderOf(target)];
      return folder !== from && !OUTSIDE.includes(from) && layerOf(from) >= layerOf(folder);
    });
    expect(wrong).toEqual([]);
  });

  it("give the pages types and what is pure", () => {
    const pages = importsOf(
      sourceFiles("web").filter((file) => !/^web\/(?:build|test)\//.test(file)),
    );
    const folders = pages
      .filter(({ target }) => target.startsWith("src/"))
      .map(({ target }) => folderOf(target));
    expect([...new Set(folders)].toSorted()).toEqual(["admin", "catalog", "platform", "schemas"]);
  });

  it("know an upstream's files and columns only in the readers of src/sources/", () => {
    const known =
      /\b(?:airports|regions)\.csv\b|our-(?:airports|regions)\.ts|latitude_deg|iso_region/;
    const folders = files.filter((file) => known.test(readFileSync(file, "utf8"))).map(folderOf);
    expect([...new Set(folders)]).toEqual(["sources"]);
  });

  it("have no circle of files", () => {
    const targets = Map.groupBy(imports, ({ file }) => file);
    const known = new Set<string>();
    const circles: string[] = [];
    const follow = (file: string, path: readonly string[]) => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" → "));
      if (known.has(file)) return;
      known.add(file);
      for (const { target } of targets.get(file) ?? []) follow(target, [...path, file]);
    };
    for (const file of files) follow(file, []);
    expect(circles).toEqual([]);
  });

  it("make no circle over RPC: the alerts watch the coordinator, which calls nobody back", () => {
    const calling = files.filter((file) => /\bALERTS\b/.test(readFileSync(file, "utf8")));
    expect(calling).toEqual(["src/worker/operations.ts"]);
  });

  it("name the platform's bindings in one place each", () => {
    const naming = files.filter((file) => /\bEnv\b/.test(readFileSync(file, "utf8")));
    expect(naming.toSorted()).toEqual(BINDINGS_MAY_BE_NAMED_IN);
  });
});

describe("the start of the Worker", () => {
  it("loads only what serves the catalog, and no package", async () => {
    const metafile = await bundled(["src/worker/worker.ts"], { packages: "external" });
    const loaded = new Set(["src/worker/worker.ts"]);
    const packages: string[] = [];
    for (const file of loaded)
      for (const { path, kind, external } of metafile.inputs[file]?.imports ?? []) {
        if (kind !== "import-statement") continue;
        if (external !== true) loaded.add(path);
        else if (!RUNTIME_MODULE.test(path)) packages.push(`${file}: ${path}`);
      }
    expect(packages).toEqual([]);
    expect([...new Set([...loaded].map(folderOf))].toSorted()).toEqual([
      "catalog",
      "parts",
      "platform",
      "rpc",
      "storage",
      "worker",
    ]);
    expect(loaded).not.toContain("src/rpc/unusual-call.ts");
    expect(loaded).not.toContain("src/rpc/errors.ts");
    expect(loaded).not.toContain("src/catalog/encode.ts");
    expect(loaded).not.toContain("src/parts/codings.ts");
  });

  it("imports none of the modules of Node that `src/platform/node.ts` loads at their first use", async () => {
    const metafile = await bundled(["src/worker/worker.ts"], {
      external: ["node:*", "cloudflare:*"],
      conditions: ["workerd", "worker", "browser"],
    });
    const imported = Object.values(metafile.outputs).flatMap((output) => output.imports);
    expect([...new Set(imported.map(({ path }) => path))].toSorted()).toEqual([
      "cloudflare:workers",
      "node:buffer",
      "node:stream/web",
      "node:timers/promises",
    ]);
  });
});

/** What esbuild finds in the code from its entry points on. */
async function bundled(entryPoints: string[], options: BuildOptions): Promise<Metafile> {
  const { metafile } = await build({
    entryPoints,
    bundle: true,
    write: false,
    outdir: "nowhere",
    format: "esm",
    loader: { ".gz": "empty", ".md": "empty", ".sql": "empty", ".d.ts": "empty" },
    logLevel: "silent",
    ...options,
    metafile: true,
  });
  return metafile;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /(?<!\.d)\.(?:tsx?|mjs)$/.test(name))
    .map((name) => join(folder, name));
}
