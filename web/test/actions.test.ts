import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ROUTE_PATHS } from "../../test/builders/openapi-check.ts";

/** Changes that only calls make. */
const CALLS = ["/admin/catalog/take-over", "/admin/monitor/set-aside"];

it("the dashboard has a dialog for every route that changes something, but for some calls", () => {
  const source = readFileSync("web/dashboard/actions.tsx", "utf8");
  const dialogs = [...source.matchAll(/path: ["`](.*?)["`],\n/g)].map(
    ([, path = ""]) => new RegExp(`^${path.replaceAll(/\$\{.*?\}/g, "[^/]+")}$`),
  );
  const changes = Object.entries(ROUTE_PATHS).filter(
    ([, { post, delete: remove }]) => (post ?? remove) !== undefined,
  );
  const paths = changes.map(([path]) => path);
  expect(paths.filter((path) => !dialogs.some((dialog) => dialog.test(path)))).toEqual(CALLS);
});
