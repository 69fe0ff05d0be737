/** `npm start` while files are saved that cannot be built, in a clone of its own. */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { callCatalog } from "../../scripts/service-call.ts";
import { SERVING, Start } from "./npm-start.ts";
import { freePort } from "./running-service.ts";

const LEFT_OUT = ["node_modules", "dist", "test", ".git", ".wrangler"];
/** Of files before they are edited and after, so that the pages are not built again for nothing. */
const OLD = new Date("2026-01-01");

const append = (more: string) => (file: string) =>
  writeFileSync(file, readFileSync(file, "utf8") + more);
const replace = (old: string, by: string) => (file: string) => {
  const text = readFileSync(file, "utf8");
  expect(text).toContain(old);
  writeFileSync(file, text.replace(old, by));
};
const truncate = (bytes: number) => (file: string) => truncateSync(file, bytes);
const cutBefore = (text: string) => (file: string) =>
  writeFileSync(file, readFileSync(file, "utf8").split(text)[0] ?? "");
const remove = () => (file: string) => rmSync(file);

/** What is done to a file, and a line of what is said about it. */
const EDITS: readonly (readonly [
  edit: string,
  file: string,
  change: (file: string) => void,
  cause: RegExp,
])[] = [
  [
    "a wrong setting",
    "wrangler.toml",
    replace('"ourairports"', '"ourairport"'),
    /^\[vars\] in wrangler\.toml: SOURCE must be one of/m,
  ],
  [
    "half of the settings of Access",
    "wrangler.toml",
    replace("[vars]", '[vars]\nACCESS_AUD = "a"'),
    /^\[vars\] in wrangler\.toml: ACCESS_AUD and ACCESS_TEAM_DOMAIN must both be set/m,
  ],
  ["no TOML", "wrangler.toml", replace('= "locations"', '= "locations'), /^4: {2}name = "loc/m],
  [
    "half a file of settings",
    "wrangler.toml",
    cutBefore("-archive"),
    /^wrangler\.toml: Invalid TOML/m,
  ],
  ["an empty file of settings", "wrangler.toml", truncate(0), /: the binding CATALOG is missing$/m],
  ["no file of settings", "wrangler.toml", remove(), /no such file .*'wrangler\.toml'$/m],
  [
    "bytes that are no text",
    "wrangler.toml",
    (file) => writeFileSync(file, Buffer.from('name = "\u0007\u001b]0;x\u0000\u0007'.repeat(500))),
    /^wrangler\.toml: Invalid TOML/m,
  ],
  [
    "a binding removed",
    "wrangler.toml",
    replace('[[kv_namespaces]]\nbinding = "CATALOG"\n', ""),
    /^wrangler\.toml: the binding CATALOG is missing$/m,
  ],
  [
    "a binding removed from staging",
    "wrangler.toml",
    replace('[[env.staging.kv_namespaces]]\nbinding = "CATALOG"\n', ""),
    /^\[env\.staging\] in wrangler\.toml: the binding CATALOG is missing$/m,
  ],
  [
    "a class that does not exist",
    "wrangler.toml",
    replace('"AlertMonitor"', '"AlertMonitors"'),
    /Durable Objects, which are not exported .* AlertMonitors/m,
  ],
  [
    "a syntax error in src/",
    "src/worker/worker.ts",
    append("const x = ;\n"),
    /src\/worker\/worker\.ts:\d+:10:$/m,
  ],
  [
    "a missing import",
    "src/worker/operations.ts",
    append('import "./nothing.ts";\n'),
    /src\/worker\/operations\.ts:\d+:7:$/m,
  ],
  [
    "half a file of src/",
    "src/worker/objects.ts",
    truncate(700),
    /src\/worker\/\w+\.ts:\d+:\d+:$/m,
  ],
  [
    "code that throws at its start",
    "src/worker/worker.ts",
    append('throw new Error("at the start");\n'),
    /Uncaught Error: at the start/m,
  ],
  [
    "a loop without an end in src/",
    "src/worker/worker.ts",
    append("for (let x = 0; x < 1; x--);\n"),
    /^The Worker has not started within 60 seconds\./m,
  ],
  [
    "a loop without an end in the build of the pages",
    "web/build/pages.ts",
    append("for (let x = 0; x < 1; x--);\n"),
    /^web\/build\/build\.ts has not ended within 240 seconds\./m,
  ],
  [
    "a syntax error in a page",
    "web/explorer/main.tsx",
    append("const x = <div;\n"),
    /web\/explorer\/main\.tsx:\d+:14:$/m,
  ],
  [
    "a syntax error in a style",
    "web/style/base.css",
    append(".a { color: red\n"),
    /web\/style\/base\.css:\d+:\d+:$/m,
  ],
  ["a page's part removed", "web/pages/layout.html", remove(), /'web\/pages\/layout\.html'$/m],
  [
    "a syntax error in the package",
    "client/src/worker.ts",
    append("const x = ;\n"),
    /^client\/src\/worker\.ts\(\d+,11\): error TS1109/m,
  ],
  [
    "a type error in the package",
    "client/src/index.ts",
    append('export const x: number = "x";\n'),
    /^client\/src\/index\.ts\(\d+,14\): error TS2322/m,
  ],
  [
    "a broken package.json",
    "package.json",
    replace('"type": "module",', '"type": "module"'),
    /Invalid package config \S+package\.json/m,
  ],
  ["half a snapshot", "data/snapshot/manifest.json", truncate(300), /manifest\.json: \w+/m],
];

const clone = mkdtempSync(join(tmpdir(), "locations-edits-"));
let url: string;
let start: Start;

beforeAll(async () => {
  cpSync(".", clone, {
    recursive: true,
    filter: (path) => !LEFT_OUT.includes(relative(".", path)) && !path.endsWith("/node_modules"),
  });
  symlinkSync(resolve("node_modules"), join(clone, "node_modules"));
  // The suggestions take half a minute to make, and no edit changes them.
  if (existsSync("dist/suggestions")) cpSync("dist/suggestions", join(clone, "dist/suggestions"));
  for (const [, file] of EDITS) utimesSync(join(clone, file), OLD, OLD);
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  start = new Start([`--port=${port}`, "--locales=en", "--quiet"], { cwd: clone });
  await start.says(SERVING);
});
afterAll(async () => {
  await Start.stopAll();
  rmSync(clone, { recursive: true });
});

it.each(EDITS)(
  "%s: names the cause, serves on, and needs only the fix (%s)",
  async (_, file, edit, cause) => {
    const path = join(clone, file);
    const before = readFileSync(path);
    start.stdout = "";
    try {
      edit(path);
      await start.says("until this is fixed:");
      expect(start.stdout).toContain(`The Worker runs without the change of ${file}, until`);
      expect(start.stdout).toMatch(cause);
      // Neither what a terminal would obey nor the source of Node.
      expect(start.stdout).not.toMatch(/--fresh|[^\P{C}\n]|\uFFFD|binding\./u);
      expect(await callCatalog(url)).toMatchObject({ ok: true });
    } finally {
      writeFileSync(path, before);
      utimesSync(path, OLD, OLD);
      await start.says(`The Worker runs with the change of ${file}\n`);
    }
    expect(await callCatalog(url)).toMatchObject({ ok: true });
    expect(start.stderr).toBe("");
  },
);

it("runs a change of the Worker and its pages", async () => {
  start.stdout = "";
  replace("no catalog is available", "x")(join(clone, "src/rpc/errors.ts"));
  replace("<svg", "<!-- changed --><svg")(join(clone, "web/pages/favicon.svg"));
  await start.says("The Worker runs with the change of ");
  const shown = async () => (await fetch(`${url}/assets/favicon.svg`)).text();
  await expect.poll(shown).toContain("<!-- changed -->");
  expect(await callCatalog(url)).toMatchObject({ ok: true });
});

it("is not disturbed by a file of secrets, which only wrangler's own server reads", async () => {
  writeFileSync(join(clone, ".dev.vars"), "ADMIN_TOKENS='[{\nSOURCE=nowhere\n");
  start.stdout = "";
  append("\n")(join(clone, "wrangler.toml"));
  await start.says("The Worker runs with the change of wrangler.toml\n");
  expect(await callCatalog(url)).toMatchObject({ ok: true });
});

it("ends at its start with the cause, and with no advice to delete anything", async () => {
  replace('"ourairports"', '"ourairport"')(join(clone, "wrangler.toml"));
  const args = [`--port=${await freePort()}`, "--state=.wrangler/other"];
  const refused = new Start(args, { cwd: clone });
  expect(await refused.ends()).toBe(1);
  expect(refused.stderr).toContain("[vars] in wrangler.toml: SOURCE must be one of");
  expect(refused.stderr).not.toMatch(/--fresh|rm -r| {4}at /);
});
