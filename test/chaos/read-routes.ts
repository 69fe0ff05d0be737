import { setTimeout as sleep } from "node:timers/promises";
import { ROUTE_FIELDS } from "../builders/hostile-values.ts";
import type { Admin } from "./admin.ts";
import type { Report } from "./report.ts";

/** A store that is down, or another installation's, is so for some seconds only. */
const DEADLINE_MS = 90_000;
const POLL_MS = 500;

/** The parameters of a route besides its path. */
const PARAMETERS: { readonly [path: string]: (known: Known) => string | undefined } = {
  "/catalog/diff": ({ generation }) => generation && `from=${generation}`,
  "/catalog/names": () => `v=${"0".repeat(64)}`,
  "/admin/catalog/comparison": ({ generation }) =>
    generation && `from=${generation}&to=${generation}`,
};

interface Known {
  /** The newest generation. */
  readonly generation: string | undefined;
}

/** The lists in which the ids of resources are, by the path of one. */
const LISTS: { readonly [path: string]: { readonly path: string; readonly field: string } } = {
  "/admin/ingest/runs/{id}": { path: "/admin/ingest/runs", field: "runs" },
  "/admin/backup-jobs/{id}": { path: "/admin/backup-jobs", field: "jobs" },
  "/admin/backup/{id}": { path: "/admin/backup/list", field: "backups" },
  "/admin/alerts/runs/{id}": { path: "/admin/alerts/runs", field: "runs" },
};

const PATHS = Object.keys(ROUTE_FIELDS).flatMap((route) =>
  route.startsWith("get ") ? [route.slice("get ".length)] : [],
);

/**
 * I10: every read route answers, as soon as no fault hits it. Health may fail, and says so.
 *
 * @param since the preceding event, for the report.
 */
export async function checkReadRoutes(admin: Admin, report: Report, since: string): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  const known: Known = { generation: await newestGeneration(admin) };
  for (const path of PATHS) {
    const concrete = await fill(admin, path, known);
    if (concrete === undefined) continue;
    while (!(await answers(admin, concrete))) {
      if (Date.now() > deadline) {
        report.violate({ invariant: "I10", what: `GET ${concrete} does not answer, ${since}` });
        return;
      }
      await sleep(POLL_MS);
    }
  }
  report.count("checked", "new starts that answered every read route");
}

async function answers(admin: Admin, path: string): Promise<boolean> {
  const answer = await admin.call("GET", path);
  if (answer === undefined) return false;
  // A listed resource may be deleted in the meantime.
  return answer.status === 200 || answer.status === 404 || isHealth(answer.body);
}

function isHealth(body: unknown): boolean {
  const status = typeof body === "object" && body !== null && "status" in body && body.status;
  return typeof status === "string";
}

async function fill(admin: Admin, path: string, known: Known): Promise<string | undefined> {
  const parameters = PARAMETERS[path];
  if (parameters !== undefined) {
    const query = parameters(known);
    return query && `${path}?${query}`;
  }
  if (!path.includes("{")) return path;
  const list = LISTS[path];
  if (list === undefined) throw new Error(`nobody lists ids for ${path}`);
  const first = (await listOf(admin, list.path, list.field))[0]?.["id"];
  return typeof first === "string" ? path.replace("{id}", first) : undefined;
}

async function newestGeneration(admin: Admin): Promise<string | undefined> {
  const versions = await listOf(admin, "/admin/catalog/versions", "versions");
  const generation = versions[0]?.["generation"];
  return typeof generation === "number" ? String(generation) : undefined;
}

interface Item {
  readonly [field: string]: unknown;
}

async function listOf(admin: Admin, path: string, field: string): Promise<readonly Item[]> {
  const answer = await admin.call("GET", path);
  if (answer?.status !== 200) return [];
  return (answer.body as { readonly [list: string]: readonly Item[] })[field] ?? []; // our API
}
