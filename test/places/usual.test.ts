/** The places that each change is tested in: a Worker, Vite and Node. */
import { appendFileSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ESM, html, PAGE, program, viteApps, viteConfig } from "./apps.ts";
import { type App, type Place, shownBy, testPlaces, whileServing } from "./place.ts";

const WORKER = `import { openCatalog } from "locations-at-the-edge-client";
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/") return new Response("ready");
    const fetch = env.SERVICE && ((input, init) => env.SERVICE.fetch(input, init));
    const catalog = await openCatalog({ baseUrl: env.ADDRESS, locale: "de", ...(fetch && { fetch }) });
    const [{ name, where }] = await catalog.search("münchen");
    return new Response(\`\${name} | \${where}\`);
  },
};
`;

/** Stands for the service in a service binding: passes each request on to it. */
const FRONT = `export default {
  fetch(request, env) {
    const { pathname, search } = new URL(request.url);
    return fetch(new Request(env.ADDRESS + pathname + search, request));
  },
};
`;

const wrangler = (main: string, name: string, date: string, more = "") =>
  `name = "${name}"\nmain = "${main}"\ncompatibility_date = "${date}"\n${more}`;

/** Six requests at once, of which the first one's client leaves; then another. */
async function askWorker(origin: string): Promise<string> {
  const left = AbortSignal.timeout(50);
  const leaving = fetch(`${origin}/places`, { signal: left }).catch(() => undefined);
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => fetch(`${origin}/places`).then((answer) => answer.text())),
  );
  await leaving;
  const later = await fetch(`${origin}/places`).then((answer) => answer.text());
  return [...new Set([...answers, later])].join();
}

function worker(name: string, date: string, isBound = false): Place {
  const binding = '[[services]]\nbinding = "SERVICE"\nservice = "front"\n';
  return {
    name,
    packages: {},
    files: {
      "worker.js": WORKER,
      "wrangler.toml": wrangler("worker.js", "places", date, isBound ? binding : ""),
      "front.js": FRONT,
      "front.toml": wrangler("front.js", "front", date),
    },
    enter: ({ folder, service }: App) => {
      const configs = ["wrangler.toml", ...(isBound ? ["front.toml"] : [])];
      for (const config of configs)
        appendFileSync(join(folder, config), `[vars]\nADDRESS = "${service}"\n`);
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

testPlaces([
  worker(`a Worker of ${today}`, today),
  worker("a Worker with the service as a service binding", today, true),
  worker("a Worker of 2024-09-23", "2024-09-23"),
  ...viteApps("Vite 7.3.8", vite, { "main.js": PAGE }),
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
  program("Node 24.21.0", { node: "24.21.0" }, ["program.mjs", ESM], ["node"]),
]);
