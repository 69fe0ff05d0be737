import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

interface LockedPackage {
  readonly optionalDependencies?: { readonly [name: string]: string };
}

it("the lock file names the packages of every platform, without which npm ci refuses it", () => {
  const lock: { readonly packages: { readonly [path: string]: LockedPackage } } = JSON.parse(
    readFileSync("package-lock.json", "utf8"),
  );
  const { packages } = lock;
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) =>
        !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
    ),
  );
  expect(missing).toEqual([]);
});
