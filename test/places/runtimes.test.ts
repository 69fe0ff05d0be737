/** Node in its versions and kinds of modules, Bun, Deno, and a page that is none. */
import { readFileSync } from "node:fs";
import { COMMONJS, ESM, program, REQUIRED } from "./apps.ts";
import { type Place, run, testPlaces } from "./place.ts";

const inNode = (version: string): readonly Place[] => {
  const packages = { node: version };
  return [
    program(`Node ${version}, ESM`, packages, ["program.mjs", ESM], ["node"]),
    program(`Node ${version}, CommonJS by import()`, packages, ["program.cjs", COMMONJS], ["node"]),
    program(
      `Node ${version}, CommonJS by require()`,
      packages,
      ["program.cjs", REQUIRED],
      ["node", "--no-warnings"],
    ),
  ];
};

/** A user without a name has no home. */
const NOBODY = ["setpriv", "--reuid=4242", "--clear-groups", "env", "--ignore-environment"];
const asRoot = process.getuid?.() === 0 ? NOBODY : ["sudo", ...NOBODY];

const JSDOM = `import { expect, it } from "vitest";
import { openCatalog } from "locations-at-the-edge-client";
it("finds", async () => {
  expect(document.body).toBeDefined();
  const catalog = await openCatalog({ baseUrl: process.env.SERVICE, locale: "de", folder: "store" });
  const [{ name, where }] = await catalog.search("münchen");
  process.stdout.write("\\n" + name + " | " + where + "\\n");
});
`;

const readme = readFileSync("client/README.md", "utf8");

/** What the README puts in the place of the package, and how it tells Jest so. */
const [, STAND_IN = ""] = /^```js\n(import [^`]*from-data[^`]*)^```$/m.exec(readme) ?? [];
const [, MAPPER = ""] = /^```json\n(.*<rootDir>.*)\n```$/m.exec(readme) ?? [];

const JEST_CONFIG = `{ "testEnvironment": "jsdom", "transform": {}, "moduleNameMapper": ${MAPPER} }`;

const JEST_TEST = `import { openCatalog, takeLatest } from "locations-at-the-edge-client";
test("finds", async () => {
  expect(document.body).toBeDefined();
  const catalog = await openCatalog({ baseUrl: "https://locations.example.com", locale: "de" });
  const [{ name, where }] = await takeLatest((typed) => catalog.search(typed))("munich");
  process.stdout.write("\\n" + name + " | " + where + "\\n");
});
`;

/** Opens what another runtime has stored, without the service. */
const OFFLINE = ESM.replace("openCatalog({", "openCatalog({ fetch: () => Promise.reject(0),");

function sharedFolder(first: string, second: string): Place {
  return {
    name: `${second} in a folder that ${first} has stored in`,
    packages: { bun: "1.4.5", node: "24.21.0" },
    files: { "program.mjs": ESM, "offline.mjs": OFFLINE },
    async enter({ folder, service }) {
      await run(folder, first, "program.mjs", service);
      return run(folder, second, "offline.mjs", service);
    },
  };
}

testPlaces([
  ...inNode("20.20.2"),
  ...inNode("22.23.3"),
  ...inNode("24.21.0"),
  {
    name: "Node 24.21.0 without a home directory",
    packages: { node: "24.21.0" },
    files: { "program.mjs": ESM.replace(', folder: "store"', "") },
    enter: ({ folder, service }) => {
      const [command = "", ...args] = asRoot;
      const started = [`${folder}/node_modules/.bin/node`, "program.mjs", service];
      return run(folder, command, ...args, ...started);
    },
  },
  program("Bun 1.4.5", { bun: "1.4.5" }, ["program.mjs", ESM], ["bun", "run"]),
  program("Deno 2.9.6", { deno: "2.9.6" }, ["program.mjs", ESM], ["deno", "run", "--allow-all"]),
  sharedFolder("bun", "node"),
  sharedFolder("node", "bun"),
  {
    name: "jsdom in Jest 30.5.2, from data, as the README has it",
    packages: { jest: "30.5.2", "jest-environment-jsdom": "30.5.2" },
    files: { "places.js": STAND_IN, "a.test.js": JEST_TEST, "jest.config.json": JEST_CONFIG },
    async enter({ folder, service }) {
      return run(
        folder,
        "sh",
        "-c",
        `curl -s '${service}/search/v1/served.json' > served.json && NODE_OPTIONS=--experimental-vm-modules jest | grep "|"`,
      );
    },
    shows: /^Munich \| Deutschland$/,
  },
  {
    name: "jsdom 31.0.1 in vitest 5.1.1",
    packages: { vitest: "5.1.1", jsdom: "31.0.1" },
    files: { "places.test.js": JSDOM },
    async enter({ folder, service }) {
      const vitest = ["vitest", "run", "--environment=jsdom", "--silent=false", "--reporter=dot"];
      const shown = await run(
        folder,
        "sh",
        "-c",
        `SERVICE=${service} ${vitest.join(" ")} | grep "|"`,
      );
      return shown;
    },
  },
]);
