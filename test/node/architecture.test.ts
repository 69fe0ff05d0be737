import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { build, type BuildOptions, type Metafile } from "esbuild";
import { describe, expect, it } from "vitest";

/** Which rooms of `src/` each room may import from, besides itself. */
const ARROWS: { readonly [room: string]: readonly string[] } = {
  catalog: ["gen", "node.ts"],
  sources: ["catalog", "node.ts"],
  storage: ["catalog", "data", "log.ts", "migrations", "parse-json.ts"],
  acceptance: ["catalog", "sources", "storage", "node.ts"],
  ingest: ["acceptance", "catalog", "sources", "storage", "log.ts", "node.ts"],
  backup: ["catalog", "ingest", "sources", "storage", "log.ts", "node.ts", "parse-json.ts"],
  coordinator: [
    "acceptance",
    "backup",
    "catalog",
    "ingest",
    "sources",
    "storage",
    "log.ts",
    "parse-json.ts",
  ],
  rpc: ["catalog", "storage", "gen"],
  health: ["backup", "catalog", "coordinator", "ingest", "sources", "storage"],
  alerts: ["catalog", "health", "storage", "log.ts", "node.ts", "parse-json.ts"],
  admin: [
    "acceptance",
    "alerts",
    "backup",
    "catalog",
    "coordinator",
    "health",
    "ingest",
    "storage",
    "data",
    "config.ts",
    "credentials.ts",
    "log.ts",
    "node.ts",
    "object-calls.ts",
  ],
  // Types, and what is pure.
  web: [
    "acceptance",
    "admin",
    "alerts",
    "backup",
    "catalog",
    "client",
    "coordinator",
    "gen",
    "ingest",
    "storage",
  ],
  "settings.ts": [
    "alerts",
    "config.ts",
    "credentials.ts",
    "health",
    "serving-config.ts",
    "sources",
  ],
  "config.ts": ["acceptance", "catalog", "sources", "storage", "serving-config.ts"],
  "serving-config.ts": [],
  "schedule.ts": ["coordinator", "storage"],
  "instances.ts": [],
  "credentials.ts": ["parse-json.ts"],
  "log.ts": [],
  "node.ts": [],
  "object-calls.ts": ["alerts", "coordinator"],
  "parse-json.ts": [],
};

/** The Durable Objects build what they need themselves, and the schema names the types of JSON columns. */
const MORE_ARROWS: { readonly [file: string]: readonly string[] } = {
  "src/storage/schema.ts": ["alerts", "coordinator"],
  "src/monitor/durable-object.ts": [
    "backup",
    "credentials.ts",
    "instances.ts",
    "schedule.ts",
    "settings.ts",
  ],
  "src/coordinator/durable-object.ts": ["config.ts", "serving-config.ts"],
};

/** They open the rooms for requests, cron triggers and calls. */
const DOORS = ["src/worker/objects.ts", "src/worker/operations.ts", "src/worker/worker.ts"];

/** The only files that may name the platform's bindings. */
const BINDINGS_MAY_BE_NAMED_IN = [
  "src/monitor/durable-object.ts",
  "src/coordinator/durable-object.ts",
  ...DOORS,
];

const RUNTIME_MODULE = /^(?:node|cloudflare|virtual|generated):/;

interface Import {
  readonly file: string;
  readonly target: string;
}

const files = sourceFiles("src");

const imports = files.flatMap((file): Import[] =>
  [...readFileSync(file, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)"/g)].map(
    ([, path = ""]) => ({
      file,
      target: normalize(join(dirname(file), path)),
    }),
  ),
);

/** `src/rpc/handler.ts` is in the room `rpc`, `gen/env.d.ts` in `gen`. */
function roomOf(file: string): string {
  const [top = "", room = ""] = file.split("/");
  return top === "src" ? room : top;
}

describe("the rooms of src/", () => {
  it("all appear in the table of arrows", () => {
    const rooms = new Set(files.map(roomOf));
    for (const door of DOORS) rooms.delete(roomOf(door));
    expect([...rooms].toSorted()).toEqual(Object.keys(ARROWS).toSorted());
  });

  it("import only downwards", () => {
    expect(imports.length).toBeGreaterThan(50);
    const wrong = imports.filter(({ file, target }) => {
      const room = roomOf(file);
      if (DOORS.includes(file) || room === roomOf(target)) return false;
      return ![...(ARROWS[room] ?? []), ...(MORE_ARROWS[file] ?? [])].includes(roomOf(target));
    });
    expect(wrong).toEqual([]);
  });

  it("know an upstream's files and columns only in the readers of src/sources/", () => {
    const known =
      /\b(?:airports|regions)\.csv\b|our-(?:airports|regions)\.ts|latitude_deg|iso_region/;
    const rooms = files.filter((file) => known.test(readFileSync(file, "utf8"))).map(roomOf);
    expect([...new Set(rooms)]).toEqual(["sources"]);
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
    expect([...new Set([...loaded].map(roomOf))].toSorted()).toEqual([
      "catalog",
      "log.ts",
      "node.ts",
      "object-calls.ts",
      "objects.ts",
      "rpc",
      "serving-config.ts",
      "storage",
      "worker.ts",
    ]);
    expect(loaded).not.toContain("src/rpc/router.ts");
    expect(loaded).not.toContain("src/catalog/encode.ts");
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
