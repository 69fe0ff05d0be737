import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

interface Package {
  readonly optionalDependencies?: { readonly [name: string]: string };
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
}

/** The workspaces of this repository. */
const WORKSPACES = ["client", "web"].flatMap((name) => [
  name,
  `node_modules/locations-at-the-edge-${name}`,
]);

describe.each(["package-lock.json", "data/build/package-lock.json"])("%s", (file) => {
  const lock = JSON.parse(readFileSync(file, "utf8")) as {
    readonly packages: { readonly [path: string]: Package };
  };
  const packages = Object.entries(lock.packages).filter(
    ([path]) => path !== "" && !WORKSPACES.includes(path),
  );

  it("has the SHA-512 of every package", () => {
    expect(packages.length).toBeGreaterThan(20);
    const without = packages.filter(
      ([, { integrity }]) => integrity?.startsWith("sha512-") !== true,
    );
    expect(without.map(([path]) => path)).toEqual([]);
  });

  it("names the packages of every platform, without which npm ci refuses it", () => {
    const missing = packages.flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) =>
          !(`node_modules/${name}` in lock.packages) &&
          !(`${path}/node_modules/${name}` in lock.packages),
      ),
    );
    expect(missing).toEqual([]);
  });

  it("takes every package from the npm registry", () => {
    const elsewhere = packages.filter(
      ([, { resolved = "https://registry.npmjs.org/", link }]) =>
        link === true || !resolved.startsWith("https://registry.npmjs.org/"),
    );
    expect(elsewhere).toEqual([]);
  });
});
