/** Global setup of the projects that need more than `npm ci` installs: says at once what is missing. */
import { existsSync } from "node:fs";
import type { TestProject } from "vitest/node";
import { findBrowser, findProgram } from "./find-program.ts";

const BROWSER = "a Chromium or Chrome: install one, or name it in the variable CHROMIUM";

const NEEDS: { readonly [project: string]: () => readonly (string | false)[] } = {
  pages: () => [findBrowser() === undefined && BROWSER],
  operations: () => [findBrowser() === undefined && BROWSER],
  backups: () => [findBrowser() === undefined && BROWSER],
  caches: () => [
    ...["nginx", "varnishd", "squid", "haproxy"].map(
      (name) => findProgram(name) === undefined && `${name}: install it`,
    ),
    !existsSync("/usr/lib/python3/dist-packages/cachecontrol") &&
      "Debian's python3-cachecontrol with python3-brotli: install them",
  ],
  receivers: () => [
    findProgram("prometheus-alertmanager") === undefined && "prometheus-alertmanager: install it",
  ],
  data: () => [
    !existsSync("data/build/node_modules") &&
      "the packages of the snapshot's build: npm ci --prefix data/build",
  ],
};

export default function setup({ name }: TestProject): void {
  const missing = NEEDS[name]?.().filter((need) => need !== false) ?? [];
  if (missing.length > 0) throw new Error(`These tests need ${missing.join("; and ")}`);
}
