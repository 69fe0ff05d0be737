/** What the real wrangler uploads to a fake of Cloudflare runs in workerd, until it serves. */
import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { onlyToken } from "../../../scripts/new-admin-token.ts";
import { callCatalog, untilServed } from "../../../scripts/service-call.ts";
import { WATCH_CRON } from "../../../src/schedule.ts";
import { DeployedWorker } from "../../builders/deployed-worker.ts";
import { DeployWorld } from "../../builders/deploy-world.ts";
import { type SmallUpstream, startSmallUpstream } from "../../builders/small-upstream.ts";
import { freePort } from "../../system/running-service.ts";

const HANG_MS = 600_000;
const TOKEN = "the-admin-token-of-this-test";
/** More than the snapshot has. */
const ALL_AIRPORTS = 100_000;
const POLL_MS = 200;

let upstream: SmallUpstream;
let world: DeployWorld;
let service: DeployedWorker | undefined;

beforeAll(async () => void (upstream = await startSmallUpstream(ALL_AIRPORTS)));
afterAll(() => upstream.stop());
beforeEach(async () => void (world = await DeployWorld.start()));
afterEach(async () => {
  await service?.stop();
  service = undefined;
  await world.stop();
});

const worker = () => world.cloudflare.account.workers.get("locations");

/** Runs what is deployed, with few locales, which are quick, and with an upstream on this machine. */
async function serve(port?: number): Promise<DeployedWorker> {
  const version = worker()?.deployed;
  if (version === undefined) throw new Error("nothing is deployed");
  const { SOURCE_URLS = "" } = upstream.vars;
  const vars = { LOCALES: "en,de", COMPRESSION: "fast", MANIFEST_FRESH_MS: "500", SOURCE_URLS };
  return (service = await DeployedWorker.start(version, vars, port));
}

const deployAlone = () => {
  const secret = JSON.stringify({ ADMIN_TOKENS: onlyToken("operator", TOKEN) });
  return world.wrangler("deploy", `--secrets-file=${world.file("secrets.json", secret)}`);
};

it(
  "wrangler deploy alone ends in a service that serves after the next five-minute tick",
  async () => {
    expect(await deployAlone()).toMatchObject({ code: 0 });
    expect(worker()?.crons).toContain(WATCH_CRON);
    const { url } = await serve();
    expect(await callCatalog(url)).toMatchObject({ ok: false, code: "unavailable" });
    await service?.fire(WATCH_CRON);
    const signal = AbortSignal.timeout(HANG_MS);
    const wait = { pollMs: POLL_MS, deadlineMs: HANG_MS, signal };
    expect(await untilServed(url, ({ ok }) => ok, wait)).toMatchObject({ ok: true, generation: 1 });
    expect(await service?.tables("HISTORY")).toEqual(
      expect.arrayContaining(["alert_runs", "audit", "ingest_runs"]),
    );
    const page = await fetch(url);
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(await page.text()).toContain("<title>");
  },
  HANG_MS,
);

it(
  "wrangler deploy alone continues after a broken first upload, once the empty KV namespace is deleted",
  async () => {
    const { cloudflare } = world;
    const broken = { status: 500, code: 10013, message: "an unknown error has occurred" };
    cloudflare.faultOf = (route) => (route.startsWith("PUT ") ? broken : undefined);
    expect(await deployAlone()).toMatchObject({ code: 1 });
    cloudflare.faultOf = () => undefined;
    const repeated = await deployAlone();
    expect(repeated.code).toBe(1);
    expect(repeated.stdout + repeated.stderr).toMatch(/title already exists.*10014/s);
    const [, command = ""] =
      /`npx wrangler (kv namespace delete [^`]+)`/.exec(
        readFileSync("docs/deploying.md", "utf8"),
      ) ?? [];
    expect(await world.wrangler(...command.split(" "))).toMatchObject({ code: 0 });
    expect(await deployAlone()).toMatchObject({ code: 0 });
    expect(cloudflare.account.namespaces).toMatchObject([{ title: "locations-catalog" }]);
  },
  HANG_MS,
);

it(
  "npm run deploy queues the first ingest, follows it and says what is served",
  async () => {
    const port = await freePort();
    const env = { ADMIN_TOKEN: TOKEN };
    const deploying = world.deploy([], { env, workersDev: `http://127.0.0.1:${port}` });
    await expect.poll(() => worker()?.crons.length, { timeout: HANG_MS }).toBeGreaterThan(0);
    await serve(port);
    const { code, stdout, stderr } = await deploying;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Catalog published.");
    expect(stdout).toMatch(/Serving 9\d{3} airports, .* at https:\/\/locations\.ada\.workers\.dev/);
  },
  HANG_MS,
);

it(
  "wrangler uploads a version without deploying it, deploys it, and rolls back",
  async () => {
    expect(await deployAlone()).toMatchObject({ code: 0 });
    const first = worker()?.deployed;
    expect(await world.wrangler("versions", "upload")).toMatchObject({ code: 0 });
    const second = worker()?.versions.at(-1);
    expect(second?.id).not.toBe(first?.id);
    expect(worker()?.deployed).toBe(first);
    const deployed = await world.wrangler("versions", "deploy", `${second?.id}@100%`, "--yes");
    expect(deployed).toMatchObject({ code: 0 });
    expect(worker()?.deployed).toBe(second);
    const back = await world.wrangler("rollback", first?.id ?? "", "--message=bad", "--yes");
    expect(back).toMatchObject({ code: 0 });
    expect(worker()?.deployed).toBe(first);
  },
  HANG_MS,
);
