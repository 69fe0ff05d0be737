import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

interface Package {
  readonly optionalDependencies?: { readonly [name: string]: string };
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

/** Whether npm would install a package where the workflows run: Linux on x64 with glibc. */
function isForWorkflows({ os = ["linux"], cpu = ["x64"], libc = ["glibc"] }: Package): boolean {
  return os.includes("linux") && cpu.includes("x64") && libc.includes("glibc");
}

describe.each(["package-lock.json", "data/build/package-lock.json"])("%s", (file) => {
  const lock = JSON.parse(readFileSync(file, "utf8")) as {
    readonly packages: { readonly [path: string]: Package };
  };
  const packages = Object.entries(lock.packages).filter(([path]) => path !== "");

  it("has a SHA-512 of every package that a workflow installs", () => {
    const without = packages.filter(
      ([, entry]) => isForWorkflows(entry) && entry.integrity?.startsWith("sha512-") !== true,
    );
    expect(without.map(([path]) => path)).toEqual([]);
  });

  it("lacks a hash only of optional packages for other platforms", () => {
    const without = packages.filter(([, { integrity }]) => integrity === undefined);
    expect(without.filter(([, { optional }]) => optional !== true)).toEqual([]);
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
