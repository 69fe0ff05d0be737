/** The real script, with a fake `wrangler` in the PATH. */
import { createHash } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { type Ended, runDeploy } from "../../builders/deploy-script.ts";
import {
  type FakeService,
  fakeService,
  type FakeServiceOptions,
} from "../../builders/fake-service.ts";
import { FakeWrangler } from "../../builders/fake-wrangler.ts";

const TOKEN = "the-admin-token-of-this-test";
const STAGING = ["--env=staging", "--workers-dev"];

type Env = { readonly [name: string]: string };

/** A Cloudflare account, and the service that is deployed to it. */
interface World {
  readonly wrangler: FakeWrangler;
  readonly service: FakeService;
  readonly deploy: (args?: readonly string[], env?: Env) => Promise<Ended>;
}

let world: World | undefined;
afterEach(async () => {
  await world?.service.stop();
  world?.wrangler.remove();
});

async function aWorld(options: Partial<FakeServiceOptions> = {}): Promise<World> {
  const service = await fakeService({ token: TOKEN, ...options });
  const wrangler = new FakeWrangler(service.url);
  const deploy = (args: readonly string[] = STAGING, env: Env = { ADMIN_TOKEN: TOKEN }) =>
    runDeploy(args, { path: wrangler.folder, env });
  return (world = { wrangler, service, deploy });
}

function commands({ wrangler }: World): string[] {
  return wrangler.takeCalls().map(({ command }) => command.replace(/ --.*/, ""));
}

const LOOKS = ["secret list", "kv namespace list", "d1 list"];
const CHANGES = ["d1 migrations apply HISTORY", "deploy"];

describe("npm run deploy", () => {
  it("creates everything, deploys and publishes, and upgrades the next time", async () => {
    const first = await aWorld({ deaf: 1 });
    const { code, stdout, stderr } = await first.deploy();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Catalog published.");
    expect(stdout).toContain(
      `Serving 3 airports, 2 cities, 1 countries, 1 regions at ${first.service.url}`,
    );
    expect(stdout).not.toContain(TOKEN);
    for (const name of ["ALERT_WEBHOOKS", "ALERT_PING_URL"])
      expect(stdout).toContain(`npx wrangler secret put ${name} --env staging`);
    const { namespaces, databases } = first.wrangler.account;
    expect(namespaces.map(({ title }) => title)).toEqual(["locations-staging-catalog"]);
    expect(databases.map(({ name }) => name)).toEqual(["locations-staging-history"]);
    const secret = first.wrangler.takeCalls().at(-1)?.secrets?.["ADMIN_TOKENS"];
    const sha256 = createHash("sha256").update(TOKEN).digest("hex");
    expect(JSON.parse(secret ?? "")).toEqual([
      { id: "operator", sha256, scopes: ["read", "operate"] },
    ]);

    const names = ["ADMIN_TOKENS", "ALERT_WEBHOOKS", "ALERT_PING_URL"];
    first.wrangler.change({ worker: names });
    const second = await first.deploy();
    expect(second).toMatchObject({ code: 0, stderr: "" });
    expect(second.stdout).not.toContain("Nobody is notified");
    expect(first.wrangler.account).toMatchObject({ namespaces, databases, worker: names });
    const calls = first.wrangler.takeCalls();
    expect(calls.map(({ secrets }) => secrets)).not.toContainEqual(expect.anything());
    expect(first.service.requests.filter((request) => request.startsWith("POST /admin"))).toEqual([
      "POST /admin/ingest/queue",
      "POST /admin/ingest/queue",
    ]);
    expect(second.leftBehind).toEqual([]);
  });

  it("queues no ingest without the token, and fails only if nothing is served", async () => {
    const { wrangler, service, deploy } = await aWorld();
    wrangler.change({ worker: ["ADMIN_TOKENS"] });
    const without = await deploy(STAGING, {});
    expect(without.code).toBe(1);
    expect(without.stdout).toContain("no ingest is queued");
    expect(without.stdout).toContain("Every call fails (unavailable, nothing is published yet)");
    expect(service.requests.some((request) => request.includes("/admin/"))).toBe(false);

    expect((await deploy()).code).toBe(0);
    const upgrade = await deploy(STAGING, {});
    expect(upgrade.code).toBe(0);
    expect(upgrade.stdout).toContain("Serving 3 airports");
  });

  it("does not deploy after a failed migration, and continues when it is run again", async () => {
    const broken = await aWorld();
    broken.wrangler.change({ fails: "d1 migrations" });
    const { code, stderr } = await broken.deploy();
    expect(code).toBe(1);
    expect(stderr).toContain("It is so ordered.");
    expect(stderr).toContain("The Worker was not deployed");
    expect(stderr).not.toContain("    at ");
    expect(commands(broken)).not.toContain("deploy");

    broken.wrangler.change({ fails: "" });
    expect((await broken.deploy()).code).toBe(0);
    expect(commands(broken)).toEqual([...LOOKS, ...CHANGES]);
  });

  it("says why the ingest failed, and how to queue another", async () => {
    const { service, deploy } = await aWorld({ ingest: "failed" });
    const { code, stderr } = await deploy();
    expect(code).toBe(1);
    expect(stderr).toContain("airports 9074 to 4120 (guard_shrink)");
    expect(stderr).toContain(`POST ${service.url}/admin/ingest/queue`);
  });

  it("changes nothing when the check fails", async () => {
    const failing = await aWorld();
    failing.wrangler.install("npm", "exit 2");
    const { code, stderr } = await failing.deploy();
    expect({ code, calls: commands(failing) }).toEqual({ code: 1, calls: [] });
    expect(stderr).toContain("Nothing was deployed.");
  });
});

describe("npm run deploy, before it changes anything,", () => {
  it.each<[name: string, args: string[], says: RegExp, secrets?: string[]]>([
    ["without an address", [], /--workers-dev[^]*--domain HOST[^]*env\.production/],
    ["that may take a domain", ["--domain=a.example.com"], /--replace-domain/],
    ["without a token", STAGING, /ADMIN_TOKEN/],
    ["over another Worker", STAGING, /may be another service/, ["OTHER"]],
    ["with two addresses", [...STAGING, "--domain=a.example.com"], /not both/],
    ["with a wrong domain", ["--domain=https://a"], /--domain must be a host/],
    ["with a wrong environment", ["--env=test"], /--env must be production or staging/],
    ["with a wrong option", ["--dry"], /Unknown option '--dry'[^]*Usage: npm run deploy/],
  ])("%s", async (_, args, says, secrets) => {
    const { wrangler, deploy } = await aWorld();
    wrangler.change({ worker: secrets ?? null });
    const before = wrangler.account;
    const { code, stderr } = await deploy(args, {});
    expect(code).toBe(1);
    expect(stderr).toMatch(says);
    expect(stderr).not.toContain("    at ");
    expect(wrangler.account).toEqual(before);
  });

  it("with a token that is too short", async () => {
    const { deploy } = await aWorld();
    const { code, stderr } = await deploy(STAGING, { ADMIN_TOKEN: "short" });
    expect(code).toBe(1);
    expect(stderr).toContain("20 to 512 visible ASCII characters");
    expect(stderr).not.toContain("    at ");
  });
});
