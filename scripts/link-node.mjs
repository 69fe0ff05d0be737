/**
 * Runs after an install: links this system's Node, as a package does for its program. With the
 * packages of the other systems, npm 10 removes that link.
 */
import { existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";

const LINK = "node_modules/.bin/node";
const { optionalDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const name = Object.keys(optionalDependencies).find((one) => existsSync(`node_modules/${one}`));
if (name !== undefined && !existsSync(LINK)) {
  rmSync(LINK, { force: true });
  symlinkSync(`../${name}/bin/node`, LINK);
}
