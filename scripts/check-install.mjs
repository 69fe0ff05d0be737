/** Runs before `npm start`, on any Node, also without what `npm ci` installs. */
import { existsSync } from "node:fs";

if (!existsSync("node_modules/node") || !existsSync("node_modules/wrangler")) {
  process.stderr.write("The dependencies are not installed. Run: npm ci\n");
  process.exit(1);
}
