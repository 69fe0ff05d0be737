import { describe, expect, it } from "vitest";
import { aBackupRequest } from "../../builders/backup-world.ts";
import { HostileTrial } from "../../builders/hostile-trial.ts";
import { hostileValues, ROUTE_FIELDS } from "../../builders/hostile-values.ts";
import { ROUTE_PATHS } from "../../builders/openapi-check.ts";

/** As much of the OpenAPI document as describes fields. */
interface Described {
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: {
    readonly content: {
      readonly [type: string]: {
        readonly schema: { readonly properties?: { readonly [name: string]: Schema } };
      };
    };
  };
}

interface Schema {
  readonly enum?: readonly string[];
}

/** The schema of each field of each route, as the OpenAPI document has them. */
const DESCRIBED: { readonly [route: string]: { readonly [field: string]: Schema } } =
  Object.fromEntries(
    Object.entries(ROUTE_PATHS).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => {
        const { parameters = [], requestBody }: Described = operation;
        const body = requestBody?.content["application/json"]?.schema.properties ?? {};
        const fields = [
          ...parameters.map((field) => [`${field.in} ${field.name}`, field.schema]),
          ...Object.entries(body).map(([name, schema]) => [`body ${name}`, schema]),
        ];
        return [`${method} ${path}`, Object.fromEntries(fields)];
      }),
    ),
  );

/** The words that a field takes. */
const wordsOf = (route: string, field: string) => DESCRIBED[route]?.[field]?.enum ?? [];

/** Ids of what is there, for requests that would be refused without. */
async function idFor(trial: HostileTrial, path: string): Promise<string> {
  const { world } = trial;
  const { ingest, installation } = world;
  if (path.includes("/held/")) return "1-0000000000000000";
  if (path.includes("/ingest/runs/")) return (await ingest.enqueue({ mode: "dry_run" })).run.id;
  if (path.includes("/alerts/runs/")) return [...world.monitor.rows.keys()][0] ?? "";
  const [job] = ingest.coordinator.jobs();
  if (path.includes("/backup-jobs/")) return job?.id ?? "";
  if (path.endsWith("/{id}")) return (await installation.backUp(aBackupRequest())).backup_id;
  return job?.backup_id ?? "";
}

/** What must be there for a request to be complete. */
const NEEDED: { readonly [route: string]: { readonly [field: string]: unknown } } = {
  "post /admin/catalog/rollback": { generation: 1 },
  "post /admin/ingest/held/approve": { rule: "moves" },
  "post /admin/ingest/held/reject": { rule: "moves" },
};

const NEEDED_QUERIES: { readonly [path: string]: { readonly [name: string]: string } } = {
  "/catalog/diff": { from: "1" },
  "/catalog/names": { v: "0".repeat(64) },
  "/search/v1/suggest": { q: "par" },
};

const asText = (value: unknown) =>
  (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).toWellFormed();

/** Sends a request in which one field has a value, and the others what they need. */
async function send(trial: HostileTrial, route: string, field: string, value: unknown) {
  const [method = "", path = ""] = route.split(" ");
  const [place, name = ""] = field.split(" ");
  const isGiven = place === "path" || !path.includes("{id}");
  const id = isGiven ? encodeURIComponent(asText(value)) : await idFor(trial, path);
  const query = new URLSearchParams({
    ...NEEDED_QUERIES[path],
    ...(place === "query" && { [name]: asText(value) }),
  });
  const url = `${path.replace("{id}", id)}?${query.toString()}`;
  const headers = place === "header" ? { [name]: asText(value) } : {};
  if (method !== "post") return trial.world.request(url, { method: method.toUpperCase(), headers });
  const body = { ...NEEDED[route], ...(place === "body" && { [name]: value }) };
  return trial.world.post(url, body, headers);
}

/** Of all routes. */
const COUNTS = { values: 0, accepted: 0 };

describe("a value that comes in by a route", () => {
  it("has a row for each field of each route of the OpenAPI document", () => {
    const named = (fields: { readonly [route: string]: object }) =>
      Object.entries(fields).map(([route, of]) => `${route}: ${Object.keys(of).toSorted().join()}`);
    expect(named(ROUTE_FIELDS).toSorted()).toEqual(named(DESCRIBED).toSorted());
  });

  const routes = Object.entries(ROUTE_FIELDS).filter(
    ([, fields]) => Object.keys(fields).length > 0,
  );

  it.each(routes)("of %s is refused by name, or survives a new start", async (route, fields) => {
    const trial = await HostileTrial.start();
    const isRead = route.startsWith("get");
    for (const [field, kind] of Object.entries(fields)) {
      const [place, name = ""] = field.split(" ");
      const hostile = hostileValues(kind, trial.world.ingest.time);
      for (const value of [...hostile, ...wordsOf(route, field)]) {
        const what = `${route} ${field} ${asText(value).slice(0, 60)}`;
        const answer = await send(trial, route, field, value);
        expect(answer.status, what).toBeLessThan(500);
        trial.note(answer.ok);
        const isNamed = answer.status === 400 && place !== "path";
        expect(isNamed ? await answer.clone().text() : name, what).toContain(name);
        if (answer.ok && !isRead) await trial.restart(what);
      }
    }
    await trial.restart(route);
    if (!isRead) await trial.goOn();
    COUNTS.values += trial.values;
    COUNTS.accepted += trial.accepted;
  });

  it("is refused more often than not", () => {
    expect(COUNTS.values).toBeGreaterThan(2_000);
    expect(COUNTS.accepted).toBeGreaterThan(400);
    expect(COUNTS.accepted).toBeLessThan(COUNTS.values / 2);
  });
});
