/** The places that each change is tested in: a Worker, Vite and Node. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { asPicker, ESM, html, PAGE, program, viteApps, viteConfig } from "./apps.ts";
import { type App, type Place, shownBy, testPlaces, whileServing } from "./place.ts";

const readme = readFileSync("client/README.md", "utf8");
const blocks = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = ""]) => code);

/** The README's code that has a text. */
function codeWith(text: string): string {
  const found = blocks.filter((code) => code.includes(text));
  if (found.length !== 1) throw new Error(`${found.length} blocks of the README have ${text}`);
  return found.join("");
}

/** Stands for the service in a service binding: passes each request on to it. */
const FRONT = `export default {
  fetch(request, env) {
    const { pathname, search } = new URL(request.url);
    return fetch(new Request(env.ADDRESS + pathname + search, request));
  },
};
`;

/** What the README says of two languages. */
const HEAP_MB = ["A catalog takes", "each further language"].reduce(
  (sum, what) => sum + Number(new RegExp(`${what} (\\d+) MB`).exec(readme)?.[1]),
  0,
);

const SERVER = `import { openCatalog } from "locations-at-the-edge-client";
const baseUrl = process.argv[2];
${codeWith("setInterval")}
const [{ name, where }] = await catalogs.get("de").search("münchen");
const open = () => openCatalog({ baseUrl, locale: "de", storedLocales: 2 });
await Promise.all(Array.from({ length: 100 }, open));
gc();
const heapMb = process.memoryUsage().heapUsed / 1e6;
if (!(heapMb <= ${1.2 * HEAP_MB})) throw new Error(\`two languages take \${heapMb} MB of heap\`);
console.log(\`\${name} | \${where}\`);
process.exit();
`;

const wrangler = (main: string, name: string, date: string, more = "") =>
  `name = "${name}"\nmain = "${main}"\ncompatibility_date = "${date}"\n${more}`;

/**
 * Six requests at once, of which the first one's client leaves and the others need no other names;
 * then at once one that does.
 */
async function askWorker(origin: string): Promise<string> {
  const urlOf = (typed: string) => `${origin}/?q=${encodeURIComponent(typed)}`;
  const leaving = fetch(urlOf("MUC"), { signal: AbortSignal.timeout(50) }).catch(() => undefined);
  const ask = async (typed: string) => {
    const answer = await fetch(urlOf(typed), { signal: AbortSignal.timeout(60_000) });
    if (!answer.ok) throw new Error(await answer.text());
    const [found]: { readonly name: string; readonly where: string }[] = await answer.json();
    return `${found?.name} | ${found?.where}`;
  };
  const others = ["roma", "MUC", "roma", "MUC", "roma"];
  await Promise.all(others.map(ask));
  await leaving;
  return ask("münchen");
}

function worker(name: string, date: string, isBound = false): Place {
  const binding = '[[services]]\nbinding = "SERVICE"\nservice = "front"\n';
  const code = codeWith("env.SERVICE");
  return {
    name,
    packages: {},
    files: {
      "worker.js": isBound ? code : code.replace(", fetch }", " }"),
      "wrangler.toml": wrangler("worker.js", "places", date, isBound ? binding : ""),
      "front.js": FRONT,
      "front.toml": wrangler("front.js", "front", date),
    },
    enter: ({ folder, service }: App) => {
      const file = join(folder, "worker.js");
      const source = readFileSync(file, "utf8");
      writeFileSync(file, source.replace("https://locations.example.com", service));
      appendFileSync(join(folder, "front.toml"), `[vars]\nADDRESS = "${service}"\n`);
      const configs = ["wrangler.toml", ...(isBound ? ["front.toml"] : [])];
      const command = [resolve("node_modules/.bin/wrangler"), "dev", "--port={port}"];
      const options = ["--inspector-port=0", ...configs.map((config) => `--config=${config}`)];
      return whileServing(folder, [...command, ...options], askWorker);
    },
  };
}

/** About the newest that this `workerd` knows: that of the service. */
const [, today = ""] =
  /^compatibility_date = "(.*)"$/m.exec(readFileSync("wrangler.toml", "utf8")) ?? [];

const vite = { vite: "7.3.8" };

const ofToday = worker(`a Worker of ${today}`, today);
const inVite = viteApps("Vite 7.3.8", vite, { "main.js": PAGE });
const inNode = program("Node 24.21.0", { node: "24.21.0" }, ["program.mjs", ESM], ["node"]);

testPlaces([
  ofToday,
  worker("a Worker with the service as a service binding", today, true),
  worker("a Worker of 2024-09-23", "2024-09-23"),
  ...inVite,
  {
    name: "Vite 7.3.8, in development without the README's line, whose error names it",
    packages: vite,
    files: {
      "index.html": html("/main.js"),
      "main.js": PAGE,
      "vite.config.js": viteConfig({ needsLine: false }),
    },
    enter: (app) =>
      whileServing(app.folder, ["vite", "--host=127.0.0.1", "--port={port}"], (origin) =>
        shownBy(origin, app),
      ),
    shows: /optimizeDeps: \{ exclude: \["locations-at-the-edge-client"\] \}/,
  },
  inNode,
  program(
    "a server in Node 24.21.0, as the README has it",
    { node: "24.21.0" },
    ["server.mjs", SERVER],
    ["node", "--expose-gc"],
  ),
  ...[ofToday, ...inVite, inNode].map(asPicker),
]);
