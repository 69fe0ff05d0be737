/** The real script and the real wrangler; Cloudflare's API is a fake. */
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { onlyToken } from "../../../scripts/new-admin-token.ts";
import { CRON_JOBS } from "../../../src/schedule.ts";
import { runDeploy } from "../../builders/deploy-script.ts";
import { fakeCloudflare } from "../../builders/fake-cloudflare.ts";
import { FakeWrangler } from "../../builders/fake-wrangler.ts";

/** It runs wrangler some twenty times. */
const HANG_MS = 1_200_000;
const ADMIN_TOKEN = "the-admin-token-of-this-test";

it(
  "a deployment by the real wrangler creates everything, uploads the Worker with its bindings, and upgrades",
  async () => {
    const cloudflare = await fakeCloudflare();
    const home = mkdtempSync(join(tmpdir(), "locations-home-"));
    const programs = new FakeWrangler("");
    rmSync(join(programs.folder, "wrangler"));
    symlinkSync(resolve("node_modules/.bin/wrangler"), join(programs.folder, "wrangler"));
    /** Nothing answers at the address, so that it is interrupted there. */
    const deploy = () =>
      runDeploy(["--env=staging", "--workers-dev"], {
        path: programs.folder,
        env: {
          ADMIN_TOKEN,
          HOME: home,
          XDG_CONFIG_HOME: home,
          CLOUDFLARE_API_BASE_URL: cloudflare.url,
          CLOUDFLARE_API_TOKEN: "a-token-that-only-the-fake-takes",
        },
        until: "Waiting for https://locations-staging.ada.workers.dev",
      });
    try {
      const refused = await deploy();
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain("workers/onboarding");
      expect(refused.stderr).toContain("what is there is kept");
      expect(cloudflare.uploads()).toEqual([]);

      cloudflare.register("ada");
      const first = await deploy();
      expect(first).toMatchObject({ code: 130, stdout: expect.stringContaining("Waiting for") });
      const account = {
        namespaces: ["locations-staging-catalog"],
        databases: ["locations-staging-history"],
        buckets: ["locations-staging-archive", "locations-staging-backups"],
        workers: ["locations-staging"],
        crons: Object.keys(CRON_JOBS),
        isAtWorkersDev: true,
      };
      expect(cloudflare.account()).toEqual(account);
      expect(cloudflare.statements()).toContainEqual(
        expect.stringContaining("CREATE TABLE `ingest_runs`"),
      );
      const bindings = cloudflare.uploads()[0]?.bindings ?? [];
      expect(bindings.find(({ name }) => name === "CATALOG")?.type).toBe("kv_namespace");
      const secret = bindings.find(({ name }) => name === "ADMIN_TOKENS");
      expect(secret).toMatchObject({
        type: "secret_text",
        text: onlyToken("operator", ADMIN_TOKEN),
      });
      const sent = JSON.stringify(cloudflare.requests());
      expect(sent + first.stdout + first.stderr).not.toContain(ADMIN_TOKEN);

      expect((await deploy()).code).toBe(130);
      expect(cloudflare.account()).toEqual(account);
      const upgrade = cloudflare.uploads()[1]?.bindings.find(({ name }) => name === "ADMIN_TOKENS");
      expect(upgrade).toEqual({ name: "ADMIN_TOKENS", type: "inherit" });
    } finally {
      programs.remove();
      rmSync(home, { recursive: true });
      await cloudflare.stop();
    }
  },
  HANG_MS,
);
