/** The commands of docs/deploying.md and the real wrangler. Cloudflare's API is a fake; workerd runs what it got. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { callCatalog } from "../../../scripts/service-call.ts";
import { WATCH_CRON } from "../../../src/coordinator/schedule.ts";
import { DeployedWorker } from "../../builders/deployed-worker.ts";
import { ACCOUNT_ID, FakeCloudflare } from "../../builders/fake-cloudflare.ts";
import { startSmallUpstream } from "../../builders/small-upstream.ts";

/** It runs wrangler four times, and an ingest. */
const HANG_MS = 600_000;
/** More than the snapshot has. */
const ALL_AIRPORTS = 100_000;
/** Few locales, which are quick. */
const VARS = { LOCALES: "en,de", COMPRESSION: "fast", MANIFEST_FRESH_MS: "500" };

/** Without the options of the npm that runs this test. */
const ownEnv: NodeJS.ProcessEnv = { ...process.env };
for (const name of Object.keys(ownEnv))
  if (name.startsWith("npm_")) Reflect.deleteProperty(ownEnv, name);

const page = readFileSync("docs/deploying.md", "utf8");

/** The command on the page that begins like this. */
function command(beginning: string): string {
  const found = page.split(/[\n`]/).find((line) => line.startsWith(beginning));
  if (found === undefined) throw new Error(`the page has no command ${beginning}`);
  return found;
}

it(
  "the page's commands end in a service that serves, also after a first upload that broke",
  async () => {
    const home = mkdtempSync(join(tmpdir(), "locations-home-"));
    const { cloudflare, url: api } = await FakeCloudflare.start();
    const upstream = await startSmallUpstream(ALL_AIRPORTS);
    let service: DeployedWorker | undefined;
    const run = async (line: string, variables: { readonly [name: string]: string } = {}) => {
      const child = spawn("sh", ["-c", line.replaceAll("secrets.json", `${home}/secrets.json`)], {
        env: {
          ...ownEnv,
          HOME: home,
          XDG_CONFIG_HOME: home,
          WRANGLER_SEND_METRICS: "false",
          CLOUDFLARE_API_BASE_URL: api,
          CLOUDFLARE_API_TOKEN: "a-token-that-only-the-fake-takes",
          CLOUDFLARE_ACCOUNT_ID: ACCOUNT_ID,
          ...variables,
        },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const outputs = Promise.all([text(child.stdout), text(child.stderr)]);
      const [[code], [stdout, stderr]] = await Promise.all([once(child, "close"), outputs]);
      return { code: Number(code), stdout, stderr };
    };
    try {
      const made = await run(command("npm run token -- --id ann"));
      const [token = ""] = /(?<=^ {2})[\w-]{43}$/m.exec(made.stdout) ?? [];

      const deploy = command("npx wrangler deploy --env=");
      cloudflare.isBroken = true;
      expect(await run(deploy)).toMatchObject({ code: 1 });
      cloudflare.isBroken = false;
      const repeated = await run(deploy);
      expect(repeated.stdout + repeated.stderr).toMatch(/title already exists.*10014/s);
      expect(await run(command("npx wrangler kv namespace delete"))).toMatchObject({ code: 0 });
      const deployed = await run(deploy);
      expect(deployed.stderr).toBe("");
      expect(deployed.code).toBe(0);
      expect(deployed.stdout).toContain("https://locations.ada.workers.dev");
      expect(cloudflare.namespaces).toMatchObject([{ title: "locations-catalog" }]);
      expect(cloudflare.crons).toContain(WATCH_CRON);

      if (cloudflare.deployed === undefined) throw new Error("nothing is deployed");
      const { SOURCE_URLS = "" } = upstream.vars;
      service = await DeployedWorker.start(cloudflare.deployed, { ...VARS, SOURCE_URLS });
      const { url } = service;
      expect(await callCatalog(url)).toMatchObject({ ok: false, code: "unavailable" });
      await service.fire(WATCH_CRON);
      const variables = { URL: url, AUTH: `Authorization: Bearer ${token}` };
      expect(await run(command('curl -H "$AUTH" --json'), variables)).toMatchObject({ code: 0 });
      const follow = command('curl -H "$AUTH" "$URL/admin/ingest/runs?limit=1"');
      const stateOf = async () => {
        const { runs } = JSON.parse((await run(follow, variables)).stdout);
        return runs[0].state;
      };
      await expect.poll(stateOf, { timeout: HANG_MS, interval: 1_000 }).toBe("succeeded");
      await expect.poll(() => callCatalog(url)).toMatchObject({ ok: true });
      const answer = await fetch(url);
      expect(await answer.text()).toContain("<title>");
    } finally {
      await service?.stop();
      await upstream.stop();
      await cloudflare.stop();
      rmSync(home, { recursive: true });
    }
  },
  HANG_MS,
);
