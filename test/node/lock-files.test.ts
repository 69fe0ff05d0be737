import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

interface Package {
  readonly optionalDependencies?: { readonly [name: string]: string };
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
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

  it("has no package whose script an install runs", () => {
    const config = readFileSync(join(dirname(file), "package.json"), "utf8");
    const { allowScripts = {} } = JSON.parse(config);
    const names = packages
      .filter(([, { hasInstallScript = false }]) => hasInstallScript)
      .map(([path]) => path.replace(/.*node_modules\//, ""));
    expect(names.filter((name) => allowScripts[name] !== false)).toEqual([]);
  });

  it("takes every package from the npm registry", () => {
    const elsewhere = packages.filter(
      ([, { resolved = "https://registry.npmjs.org/", link }]) =>
        link === true || !resolved.startsWith("https://registry.npmjs.org/"),
    );
    expect(elsewhere).toEqual([]);
  });
});

it("package-lock.json has one version of Node, which runs everything, for each system", () => {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
  const { optionalDependencies } = packages[""]; // the repository's own
  const systems = Object.keys(optionalDependencies).map((name) => {
    const { version, os, cpu, bin } = packages[`node_modules/${name}`];
    expect(bin).toEqual({ node: "bin/node" });
    return [version, os, cpu];
  });
  const [[version] = []] = systems;
  expect(systems).toEqual([
    [version, "darwin", "arm64"],
    [version, "darwin", "x64"],
    [version, "linux", "arm64"],
    [version, "linux", "x64"],
  ]);
});
