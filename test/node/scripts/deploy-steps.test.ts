/** The real script and the real wrangler, while Cloudflare fails at one step after the other. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CRON_JOBS } from "../../../src/schedule.ts";
import { DeployWorld, type Ended } from "../../builders/deploy-world.ts";
import type { Fault } from "../../builders/fake-cloudflare.ts";
import { type FakeService, fakeService } from "../../builders/fake-service.ts";

/** It runs wrangler some twenty times. */
const HANG_MS = 1_200_000;
const TOKEN = "the-admin-token-of-this-test";
const INTERNAL = { status: 500, code: 10013, message: "an unknown error has occurred" };
/** More than there are steps. */
const MOST_RUNS = 20;

let world: DeployWorld;
let service: FakeService;
beforeEach(async () => {
  world = await DeployWorld.start();
  service = await fakeService({ token: TOKEN });
});
afterEach(async () => {
  await world.stop();
  await service.stop();
});

describe.each<[what: string, fault: Fault]>([
  ["is refused", INTERNAL],
  ["takes effect, but loses its answer", "lost"],
])("a first deployment whose steps each once %s", (_, fault) => {
  it(
    "completes when the same command is repeated often enough",
    async () => {
      const { cloudflare } = world;
      /** Steps that have failed in an earlier run, in the order in which they failed. */
      const failed: string[] = [];
      const ends: Ended[] = [];
      for (let isWhole = false; !isWhole && ends.length < MOST_RUNS;) {
        let failing: string | undefined;
        cloudflare.faultOf = (route) => {
          if (route.startsWith("GET") || failed.includes(route)) return undefined;
          failing ??= route;
          return route === failing ? fault : undefined;
        };
        const options = { env: { ADMIN_TOKEN: TOKEN }, workersDev: service.url };
        const end = await world.deploy([], options);
        isWhole = failing === undefined;
        failed.push(...(failing === undefined ? [] : [failing]));
        // What wrangler says of a script there is for people only, and may fail.
        if (failing?.endsWith("/script-settings") !== true) ends.push(end);
      }
      const last = ends.pop();
      expect(last).toMatchObject({ code: 0, stderr: "" });
      expect(last?.stdout).toContain("Serving 3 airports");
      for (const { code, stderr } of ends) {
        expect(code).toBe(1);
        expect(stderr).toContain("Run the same command again");
        expect(stderr).not.toContain("    at ");
      }
      expect(failed).toEqual(
        expect.arrayContaining([
          "POST /workers/scripts/:name/assets-upload-session",
          "POST /workers/assets/upload",
          "POST /storage/kv/namespaces",
          "POST /d1/database",
          "POST /r2/buckets",
          "PUT /workers/scripts/:name",
          "POST /workers/scripts/:name/subdomain",
          "PUT /workers/scripts/:name/schedules",
        ]),
      );
      const { account } = cloudflare;
      expect(account.namespaces.map(({ title }) => title)).toEqual(["locations-catalog"]);
      expect(account.databases.map(({ name }) => name)).toEqual(["locations-history"]);
      expect(account.buckets).toEqual(["locations-archive", "locations-backups"]);
      const worker = account.workers.get("locations");
      expect(worker).toMatchObject({
        migrationTag: "v1",
        crons: Object.keys(CRON_JOBS),
        isAtWorkersDev: true,
        deployed: worker?.versions.at(-1),
      });
      const [namespace] = account.namespaces;
      expect(worker?.deployed?.bindings).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ name: "CATALOG", namespace_id: namespace?.id }),
          expect.objectContaining({ name: "ADMIN_TOKENS", type: "secret_text" }),
        ]),
      );
    },
    HANG_MS,
  );
});
