/** The commands of docs/deploying.md and the real wrangler. Cloudflare's API is a fake; workerd runs the code that it got. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { unstable_readConfig } from "wrangler";
import { afterEach, expect, inject, it } from "vitest";
import { callCatalog } from "../../../scripts/service-call.ts";
import { WATCH_CRON } from "../../../src/coordinator/schedule.ts";
import { readCredentials } from "../../../src/platform/credentials.ts";
import { ACCOUNT_ID, FakeCloudflare, type Version } from "../../builders/fake-cloudflare.ts";
import { startSmallUpstream } from "../../builders/small-upstream.ts";
import { TestService } from "../../system/test-service.ts";

/** A test runs wrangler up to five times, and an ingest. */
const HANG_MS = 600_000;
/** More than the snapshot has. */
const ALL_AIRPORTS = 100_000;
/** Without the options of the npm that runs this test, and what the tests set. */
const ownEnv: NodeJS.ProcessEnv = { ...process.env };
for (const name of Object.keys(ownEnv))
  if (name.startsWith("npm_") || name === "ADMIN_TOKENS" || name === "WRANGLER_LOG")
    Reflect.deleteProperty(ownEnv, name);

const page = readFileSync("docs/deploying.md", "utf8");

/** The command on the page that starts like this. */
function command(prefix: string): string {
  const found = page.split(/[\n`]/).find((line) => line.startsWith(prefix));
  if (found === undefined) throw new Error(`the page has no command ${prefix}`);
  return found;
}

/** What the workflow runs to deploy. */
function workflowStep(): string {
  const workflow = readFileSync(".github/workflows/deploy.yml", "utf8");
  const [, script = ""] = /- name: Deploy,.*\n {8}run: \|\n((?: {10}.*\n)+)/.exec(workflow) ?? [];
  return script;
}

/** The secret ADMIN_TOKENS of a version. */
function tokensOf({ bindings }: Version): string {
  return bindings.find(({ name }) => name === "ADMIN_TOKENS")?.text ?? "";
}

/** Starts the uploaded code with the uploaded secret, on bindings that the upload must name as well. */
async function start(version: Version, folder: string, sourceUrls = "") {
  const { modules, bindings } = version;
  const { options } = inject("build");
  const { kvNamespaces, r2Buckets, d1Databases, durableObjects, ratelimits } = options;
  const local = [kvNamespaces, r2Buckets, d1Databases, durableObjects, ratelimits];
  const names = local.flatMap((bound) => Object.keys(bound ?? {}));
  expect(bindings.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
  for (const file of modules)
    writeFileSync(join(folder, file.name), Buffer.from(await file.arrayBuffer()));
  return TestService.start({
    build: { folder, options },
    // Few, which are quick.
    locales: "en,de",
    vars: { ADMIN_TOKENS: tokensOf(version), SOURCE_URLS: sourceUrls },
  });
}

interface Place {
  /** A home of nobody else, for what the commands write. */
  readonly home: string;
  /** The base of Cloudflare's API. */
  readonly api: string;
}

/** The lines of wrangler.toml that the page says to uncomment. A fork may have done so. */
const DOMAIN_LINES = /^(?:# )?(workers_dev = false|routes = \[\{ pattern = "(.*?)".*)$/gm;
const settings = readFileSync("wrangler.toml", "utf8");
/** Edited settings, beside the real ones because paths in them are relative. */
const CONFIG = "wrangler.edited.toml";

afterEach(() => rmSync(CONFIG, { force: true }));

/** Returns what runs a line as an operator would, with edited settings, and says how it ended. */
function operatorOf({ home, api }: Place) {
  return async (line: string, variables: { readonly [name: string]: string } = {}) => {
    const edited = line
      .replaceAll(/secrets\.(?:json|env)/g, `${home}/$&`)
      .replace("wrangler deploy", `$& --config ${CONFIG}`);
    const child = spawn("sh", ["-c", edited], {
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
}

it(
  "the page's commands and the workflow's lead to a service that serves, even after a first upload was interrupted",
  async () => {
    const home = mkdtempSync(join(tmpdir(), "locations-home-"));
    const { cloudflare, url: api } = await FakeCloudflare.start();
    const upstream = await startSmallUpstream(ALL_AIRPORTS);
    let service: TestService | undefined;
    const run = operatorOf({ home, api });
    try {
      const made = await run(command("npm run token -- --id ann"));
      const [token = ""] = /(?<=^ {2})[\w-]{43}$/m.exec(made.stdout) ?? [];

      writeFileSync(CONFIG, settings.replaceAll(DOMAIN_LINES, "# $1"));
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
      expect(cloudflare).toMatchObject({ isOnWorkersDev: true, customDomains: [] });
      expect(cloudflare.namespaces).toMatchObject([{ title: "locations-catalog" }]);
      expect(cloudflare.crons).toContain(WATCH_CRON);

      const another = command("npm run token -- --id bob").replace(/--expires \S+/, "");
      expect(await run(another)).toMatchObject({ code: 0, stderr: "" });
      expect(await run(command("npx wrangler secret bulk"))).toMatchObject({ code: 0, stderr: "" });
      const { deployed: version } = cloudflare;
      if (version === undefined) throw new Error("nothing is deployed");
      const TOKENS = tokensOf(version);
      expect(readCredentials({ ADMIN_TOKENS: TOKENS }).credentials.tokens).toMatchObject([
        { id: "ann" },
        { id: "bob" },
      ]);
      const step = await run(workflowStep(), { TARGET: "", TOKENS });
      expect(step).toMatchObject({ code: 0, stderr: "" });
      expect(cloudflare.deployed).not.toBe(version);
      expect(cloudflare.deployed && tokensOf(cloudflare.deployed)).toBe(TOKENS);

      expect(String(version.assets.get("/index.html"))).toContain("<title>");
      service = await start(version, home, upstream.vars["SOURCE_URLS"]);
      const { url } = service;
      expect(await callCatalog(url)).toMatchObject({ ok: false, code: "unavailable" });
      const tick = await fetch(
        `${url}/cdn-cgi/local/scheduled?cron=${encodeURIComponent(WATCH_CRON)}`,
      );
      expect(await tick.text()).toBe("ok");
      const variables = { URL: url, AUTH: `Authorization: Bearer ${token}` };
      expect(await run(command('curl -H "$AUTH" --json'), variables)).toMatchObject({ code: 0 });
      const follow = command('curl -H "$AUTH" "$URL/admin/ingest/runs?limit=1"');
      const stateOf = async () => {
        const { runs } = JSON.parse((await run(follow, variables)).stdout);
        return runs[0].state;
      };
      await expect.poll(stateOf, { timeout: HANG_MS, interval: 1_000 }).toBe("succeeded");
      await expect.poll(() => callCatalog(url)).toMatchObject({ ok: true });
    } finally {
      await service?.stop();
      await upstream.stop();
      await cloudflare.stop();
      rmSync(home, { recursive: true });
    }
  },
  HANG_MS,
);

it(
  "a domain in wrangler.toml closes workers.dev, and an upgrade and the workflow leave it so",
  async () => {
    const home = mkdtempSync(join(tmpdir(), "locations-home-"));
    const { cloudflare, url: api } = await FakeCloudflare.start();
    const run = operatorOf({ home, api });
    const [, , domain] = [...settings.matchAll(DOMAIN_LINES)].at(-1) ?? [];
    const [, upgrade = ""] = /^- \*\*An upgrade\*\* is `(.*?)`/m.exec(page) ?? [];
    try {
      await run(command("npm run token -- --id ann"));
      writeFileSync(CONFIG, settings.replaceAll(DOMAIN_LINES, "# $1"));
      expect(await run(command("npx wrangler deploy --env="))).toMatchObject({ code: 0 });
      expect(cloudflare).toMatchObject({ isOnWorkersDev: true, customDomains: [] });

      writeFileSync(CONFIG, settings.replaceAll(DOMAIN_LINES, "$1"));
      const TOKENS = cloudflare.deployed && tokensOf(cloudflare.deployed);
      for (const line of [upgrade, upgrade, workflowStep()]) {
        const ended = await run(line, { TARGET: "", TOKENS: "" });
        expect(ended).toMatchObject({ code: 0, stderr: "" });
        expect(ended.stdout).not.toContain("workers.dev");
        expect(cloudflare).toMatchObject({ isOnWorkersDev: false, customDomains: [domain] });
        expect(cloudflare.deployed && tokensOf(cloudflare.deployed)).toBe(TOKENS);
      }
      const staging = unstable_readConfig({ config: CONFIG, env: "staging" });
      expect(staging).toMatchObject({ workers_dev: true, routes: [] });
    } finally {
      await cloudflare.stop();
      rmSync(home, { recursive: true });
    }
  },
  HANG_MS,
);
