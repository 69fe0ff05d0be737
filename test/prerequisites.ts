/** Global setup of the projects that need more than `npm ci` installs: says at once what is missing. */
import { existsSync } from "node:fs";
import type { TestProject } from "vitest/node";
import { findBrowser, findProgram } from "./find-program.ts";

const BROWSER = "a Chromium or Chrome: install one, or name it in the variable CHROMIUM";

const NEEDS: { readonly [project: string]: () => readonly (string | false)[] } = {
  pages: () => [findBrowser() === undefined && BROWSER],
  dashboard: () => [findBrowser() === undefined && BROWSER],
  backups: () => [findBrowser() === undefined && BROWSER],
  caches: () => [
    findBrowser() === undefined && BROWSER,
    findProgram("nginx") === undefined && "nginx: install it",
    findProgram("varnishd") === undefined && "Varnish: install it",
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
