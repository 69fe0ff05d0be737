/** A client that a generator makes of the OpenAPI document, against the running service. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

const { url, adminToken } = inject("service");

mkdirSync(".wrangler", { recursive: true });
const folder = mkdtempSync(".wrangler/client-");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...args: readonly string[]) =>
  execFileSync(process.execPath, args, { encoding: "utf8" });

/** What somebody writes who uses the client; the last line of each kind does not type-check. */
const PROGRAM = `
import { HttpError } from "@oazapfts/runtime";
import * as api from "./api.ts";

api.defaults.baseUrl = ${JSON.stringify(url)};
api.defaults.headers = { authorization: ${JSON.stringify(`Bearer ${adminToken}`)} };

const posted = await api.getLocationsV1({ locale: "de" });
const got = await api.queryLocationsV1("json", JSON.stringify({ locale: "de" }), { connect: "v1" });
const { airports } = await api.getSearchRanks();
const health = await api.getCatalogHealth();
const malformed = await api
  .getLocationsV1({ locale: "?" })
  .catch((error: unknown) => error instanceof HttpError && [error.status, error.data.code]);
const busiest = posted.airports.find(({ iata }) => iata === airports[0]);
const city = posted.cities.find(({ id }) => id.value === busiest?.cityId.value)?.name.length;

const { scopes } = await api.getIdentity();
const queued = await api.queueRun({ mode: "dry_run", note: "by a generated client" });
const found = await api.listRuns({ trigger: "manual", limit: 1 });
const details = await api.getRun(queued.run.id);
const { alerts } = await api.listAlerts({ state: "firing" });
const evaluated = await api.evaluateAlerts();
const deleted = await api.deleteBackup(queued.run.id, { note: "it is none" });
const refused = await api
  .rollBack({ generation: 999_999, expected_generation: 1 })
  .catch((error: unknown) => error instanceof HttpError && [error.status, error.data.code]);

// @ts-expect-error a locale is text
void (() => api.getLocationsV1({ locale: 7 }));
// @ts-expect-error only JSON
void (() => api.queryLocationsV1("proto", ""));
// @ts-expect-error there is no such mode
void (() => api.queueRun({ mode: "fast" }));
// @ts-expect-error a generation is required
void (() => api.rollBack());
// @ts-expect-error the changes must be named
void (() => api.approveHeldChanges({ note: "all" }));
// @ts-expect-error an id is text
void (() => api.getRun(7));
// @ts-expect-error there is no such field
void queued.disposition;

const words: string[] = [queued.message, evaluated.message, deleted.message];
console.log(
  JSON.stringify({
    same: JSON.stringify(posted) === JSON.stringify(got),
    city: city !== undefined && city > 0,
    published: health.published_at !== null,
    malformed,
    scopes,
    mode: details.mode,
    note: found.runs[0]?.note,
    firing: alerts.every(({ state }) => state === "firing"),
    deleted: deleted.changed,
    refused,
    words: words.length,
  }),
);
`;

const TSCONFIG = {
  compilerOptions: {
    target: "es2024",
    lib: ["es2024", "dom"],
    module: "esnext",
    moduleResolution: "bundler",
    types: ["node"],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
  },
  files: ["program.ts"],
};

beforeAll(async () => {
  const document = await (await fetch(`${url}/openapi.json`)).text();
  writeFileSync(join(folder, "openapi.json"), document);
  const made = join(folder, "api.ts");
  run("node_modules/oazapfts/dist/cli.js", join(folder, "openapi.json"), made, "--optimistic");
  writeFileSync(join(folder, "program.ts"), PROGRAM);
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
});

describe("a client made by oazapfts from /openapi.json", () => {
  it("passes the compiler, which rejects what the service would refuse", () => {
    expect(run("node_modules/typescript/bin/tsc", "--project", folder)).toBe("");
  });

  it("calls the service", () => {
    expect(JSON.parse(run(join(folder, "program.ts")))).toEqual({
      same: true,
      city: true,
      published: true,
      malformed: [400, "invalid_argument"],
      scopes: ["read", "operate"],
      mode: "dry_run",
      note: "by a generated client",
      firing: true,
      deleted: false,
      refused: [404, "generation_not_retained"],
      words: 3,
    });
  });
});
