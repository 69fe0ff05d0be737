import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { deployService } from "../../../scripts/deploy-service.ts";
import { adminTokensSecret } from "../../../scripts/deploy-token.ts";
import { WRANGLER_SCRIPT, wranglerRunner } from "../../../scripts/wrangler.ts";
import { CRON_JOBS } from "../../../src/schedule.ts";
import { fakeCloudflare } from "../../builders/fake-cloudflare.ts";
import { fakeService } from "../../builders/fake-service.ts";

const adminToken = "the-admin-token-of-this-test";

/** Cloudflare and the deployed service are fakes here; wrangler is the real one. */
describe("a deployment by the real wrangler", () => {
  it("makes everything, uploads the Worker as it is meant, and publishes; then upgrades", async () => {
    const service = await fakeService({ knows: (token) => token === adminToken });
    const { url } = service;
    const cloudflare = await fakeCloudflare();
    const home = mkdtempSync(join(tmpdir(), "locations-home-"));
    vi.stubEnv("HOME", home);
    vi.stubEnv("XDG_CONFIG_HOME", home);
    vi.stubEnv("CLOUDFLARE_API_BASE_URL", cloudflare.url);
    vi.stubEnv("CLOUDFLARE_API_TOKEN", "a-token-that-only-the-fake-takes");
    const hosts: string[] = [];
    const said: string[] = [];
    const deployStaging = () =>
      deployService(
        {
          environment: "staging",
          address: { kind: "workers.dev" },
          account: undefined,
          consent: { replaceDomain: false, replaceWorker: false },
          token: { given: adminToken, file: undefined, replace: false },
        },
        {
          wrangler: wranglerRunner(WRANGLER_SCRIPT, new AbortController().signal),
          check: async () => ({ ok: true, stdout: "", lastLines: "" }),
          terminal: {
            isInteractive: false,
            say: (line) => void said.push(line),
            askSecret: async () => "",
            confirm: async () => false,
          },
          patience: { pollMs: 10, answerMs: 5_000, silenceMs: 1_000, retryAfterMs: 10 },
          originOf: (host) => {
            hosts.push(host);
            return url;
          },
        },
      );
    try {
      await expect(deployStaging()).rejects.toThrow(
        /was not uploaded.*no workers\.dev subdomain.*workers\/onboarding/s,
      );
      expect(cloudflare.uploads()).toEqual([]);
      cloudflare.register("ada");
      const { health } = await deployStaging();
      expect(health).toMatchObject({ status: "pass", version: 1 });
      expect(hosts).toEqual(["locations-staging.ada.workers.dev"]);
      expect(cloudflare.account()).toEqual({
        namespaces: ["locations-staging-catalog"],
        databases: ["locations-staging-history"],
        buckets: ["locations-staging-archive", "locations-staging-backups"],
        workers: ["locations-staging"],
        crons: Object.keys(CRON_JOBS),
        isAtWorkersDev: true,
      });
      expect(cloudflare.statements()).toContainEqual(
        expect.stringContaining("CREATE TABLE `ingest_runs`"),
      );
      const bindings = cloudflare.uploads()[0]?.bindings ?? [];
      expect(bindings.find(({ name }) => name === "CATALOG")?.type).toBe("kv_namespace");
      const secret = bindings.find(({ name }) => name === "ADMIN_TOKENS");
      expect(secret).toMatchObject({ type: "secret_text", text: adminTokensSecret(adminToken) });
      expect(JSON.stringify(cloudflare.requests()) + said.join("\n")).not.toContain(adminToken);

      const before = cloudflare.account();
      await deployStaging();
      expect(cloudflare.account()).toEqual(before);
      const upgrade = cloudflare.uploads()[1]?.bindings.find(({ name }) => name === "ADMIN_TOKENS");
      expect(upgrade).toEqual({ name: "ADMIN_TOKENS", type: "inherit" });

      cloudflare.register(undefined);
      await expect(deployStaging()).rejects.toThrow(
        /is uploaded, but it has no address yet.*workers\/onboarding/s,
      );
    } finally {
      vi.unstubAllEnvs();
      rmSync(home, { recursive: true });
      await cloudflare.stop();
      await service.stop();
    }
  });
});
