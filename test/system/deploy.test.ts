import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, inject, it } from "vitest";
import manifest from "../../data/snapshot/manifest.json" with { type: "json" };
import { type Ended, runDeploy } from "../builders/deploy-script.ts";
import { FakeWrangler } from "../builders/fake-wrangler.ts";

/** The script with the real npm and wrangler, in the home of nobody who is logged in. */
async function deploy(...args: readonly string[]): Promise<Ended> {
  const home = mkdtempSync(join(tmpdir(), "locations-home-"));
  try {
    const path = `${resolve("node_modules/.bin")}:${process.env["PATH"]}`;
    return await runDeploy(args, { path, env: { HOME: home, XDG_CONFIG_HOME: home } });
  } finally {
    rmSync(home, { recursive: true });
  }
}

describe("npm run deploy", () => {
  it("checks, builds and prints its plan in a dry run without an account", async () => {
    const { code, stdout, leftBehind } = await deploy(
      "--dry-run",
      "--workers-dev",
      "--env=staging",
    );
    expect(code).toBe(0);
    expect(stdout).toContain("Plan for locations-staging (staging)");
    expect(stdout).toContain("wrangler d1 migrations apply HISTORY --remote --env staging");
    expect(stdout).toContain("wrangler kv namespace create locations-staging-catalog");
    expect(stdout).toContain("nothing was deployed");
    expect(leftBehind).toEqual([]);
  });

  it("says how to log in if wrangler is not logged in", async () => {
    const { code, stderr } = await deploy("--workers-dev", "--env=staging");
    expect(code).toBe(1);
    expect(stderr).toContain("npx wrangler login");
    expect(stderr).not.toContain("    at ");
  });

  it("explains its options", async () => {
    const { code, stdout } = await deploy("--help");
    expect(code).toBe(0);
    expect(stdout).toContain("Usage: npm run deploy");
  });

  it("queues an ingest through the real admin routes and waits until the catalog is served", async () => {
    const { url, adminToken } = inject("service");
    const wrangler = new FakeWrangler(url);
    wrangler.change({ worker: ["ADMIN_TOKENS"] });
    try {
      const run = { path: wrangler.folder, env: { ADMIN_TOKEN: adminToken } };
      const { code, stdout, stderr } = await runDeploy(["--env=staging", "--workers-dev"], run);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toContain("Catalog unchanged.");
      expect(stdout).toContain(`Serving ${manifest.counts.airports} airports`);
      expect(stdout).not.toContain(adminToken);
    } finally {
      wrangler.remove();
    }
  });
});
