import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, inject, it } from "vitest";
import manifest from "../../data/snapshot/manifest.json" with { type: "json" };
import { deployService } from "../../scripts/deploy-service.ts";
import { fakeWrangler } from "../builders/fake-wrangler.ts";

interface Ended {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

/** `npm run deploy` as its user sees it, with the real wrangler, in the home of nobody who is logged in. */
async function deploy(...args: readonly string[]): Promise<Ended> {
  const home = mkdtempSync(join(tmpdir(), "locations-home-"));
  const { CLOUDFLARE_API_TOKEN: _token, ...others } = process.env;
  const env = { ...others, HOME: home, XDG_CONFIG_HOME: home, WRANGLER_SEND_METRICS: "false" };
  try {
    const child = spawn(process.execPath, ["scripts/deploy.ts", ...args], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    return { code, stdout, stderr };
  } finally {
    rmSync(home, { recursive: true });
  }
}

describe("npm run deploy", () => {
  it("checks, builds and prints its plan in a dry run, without an account", async () => {
    const { code, stdout, stderr } = await deploy("--dry-run", "--workers-dev", "--env=staging");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Plan for locations-staging (staging)");
    expect(stdout).toContain("wrangler d1 migrations apply HISTORY --remote --env staging");
    expect(stdout).toContain("wrangler kv namespace create locations-staging-catalog");
    expect(stdout).toContain("nothing was deployed");
    expect(readdirSync(".").filter((name) => name.startsWith(".wrangler-deploy-"))).toEqual([]);
  });

  it("says how to log in when wrangler says that nobody is", async () => {
    const { code, stderr } = await deploy("--workers-dev");
    expect(code).toBe(1);
    expect(stderr).toContain("npx wrangler login");
    expect(stderr).not.toContain("    at ");
  });

  it("asks where to serve rather than to take an address away", async () => {
    const { code, stderr } = await deploy("--env=production");
    expect(code).toBe(1);
    expect(stderr).toMatch(/--workers-dev[^]*--domain HOST[^]*env\.production/);
  });

  it("explains its options", async () => {
    const { code, stdout } = await deploy("--help");
    expect(code).toBe(0);
    expect(stdout).toContain("Usage: npm run deploy");
  });
});

/** Wrangler is a fake here; what it pretends to have deployed is the service that runs. */
it("a deployment queues its ingest with the real admin routes and waits until it is served", async () => {
  const { url, adminToken } = inject("service");
  const wrangler = fakeWrangler({ workers: { "locations-staging": ["ADMIN_TOKENS"] } });
  const said: string[] = [];
  try {
    const deployed = await deployService(
      {
        environment: "staging",
        address: { kind: "workers.dev" },
        account: undefined,
        consent: { replaceDomain: false, replaceWorker: false },
        token: { given: adminToken, file: undefined, replace: false },
      },
      {
        wrangler: wrangler.inProcess,
        check: async () => ({ ok: true, stdout: "", lastLines: "" }),
        terminal: {
          isInteractive: false,
          say: (line) => void said.push(line),
          askSecret: async () => "",
          confirm: async () => false,
        },
        patience: { pollMs: 200, answerMs: 30_000, silenceMs: 5_000, retryAfterMs: 10 },
        originOf: () => url,
      },
    );
    expect(deployed.url).toBe(url);
    const { airports } = manifest.counts;
    expect(deployed.health).toMatchObject({ status: "pass", counts: { airports } });
    expect(said.join("\n")).not.toContain(adminToken);
  } finally {
    wrangler.remove();
  }
});
